import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

import { consumeChunks } from "./consume-chunks.ts";

const cutShort = () => new Error("cut short");
const read = (take: (text: string) => undefined | Promise<void>, stream: Readable) =>
  consumeChunks(stream, (chunk) => take(chunk.toString()), { cutShort });

describe("chunks of a stream", () => {
  test("come one after the other, and wait for whoever takes them", async () => {
    const heard: string[] = [];
    let isBusy = false;
    const take = async (text: string) => {
      assert.equal(isBusy, false);
      isBusy = true;
      await turn();
      heard.push(text);
      isBusy = false;
    };
    await read(take, Readable.from([Buffer.from("a"), Buffer.from("b"), Buffer.from("c")]));
    assert.deepEqual(heard, ["a", "b", "c"]);
  });

  test("what the taker throws, at once or later, is thrown; the rest is read and dropped", async () => {
    for (const take of [
      () => {
        throw new Error("no more");
      },
      () => Promise.reject(new Error("no more")),
    ]) {
      const stream = Readable.from([Buffer.from("a"), Buffer.from("b")]);
      await assert.rejects(read(take, stream), /no more/);
      await turn();
      await turn();
      assert.equal(stream.readableEnded, true);
    }
  });

  test("a stream that ends before its end is an error: its own, or that it was cut short", async () => {
    const never = () => undefined;
    const silent = new Readable({ read: () => undefined });
    setImmediate(() => silent.destroy());
    await assert.rejects(read(never, silent), /cut short/);
    await assert.rejects(read(never, silent), /cut short/);
    const failing = new Readable({ read: () => undefined });
    setImmediate(() => failing.destroy(new Error("its own")));
    await assert.rejects(read(never, failing), /its own/);
  });

  test("lent ones are given back once they are taken", async () => {
    const chunk = Buffer.from(new ArrayBuffer(8));
    const piece = Buffer.from(new ArrayBuffer(8), 0, 4);
    const seen: number[] = [];
    await consumeChunks(
      Readable.from([chunk, piece]),
      ({ length }) => {
        seen.push(length);
        return undefined;
      },
      { detachAfterUse: true, cutShort },
    );
    // Not the memory that a piece shares with others.
    assert.deepEqual([seen, chunk.buffer.byteLength, piece.buffer.byteLength], [[8, 4], 0, 8]);
  });
});
