import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "node:test";

import { ArchiveError, ArchiveWriter, readEntries } from "./index.ts";

const archive = await makeArchive();

async function makeArchive(): Promise<Buffer> {
  const writer = new ArchiveWriter();
  const bytes = buffer(writer.stream);
  await writer.addText("a", "x".repeat(3000));
  await writer.addText("b", "y".repeat(700));
  await writer.addText("c", "");
  writer.end();
  return bytes;
}

/** A stream that gives these bytes in pieces and then breaks. */
function breaking(bytes: Buffer, piece: number): Readable {
  return Readable.from(
    (async function* () {
      for (let at = 0; at < bytes.length; at += piece) {
        yield bytes.subarray(at, at + piece);
      }
      throw new Error("the disk is gone");
    })(),
    { objectMode: false },
  );
}

for (const [pause, report] of [
  [0, "at once"],
  [2, "late"],
] as const) {
  test(`a stream that breaks anywhere ends the reading with its reason; contents are read ${report}`, async () => {
    for (let length = 0; length < archive.length; length += 97) {
      const read = async () => {
        for await (const { content } of readEntries(breaking(archive.subarray(0, length), 211))) {
          // Whoever unpacks makes a folder and opens a file first.
          await (pause === 0 ? undefined : delay(pause));
          await text(Readable.from(content));
        }
      };
      const ended = await Promise.race([
        read().then(
          () => "read to its end",
          (error: unknown) => error,
        ),
        delay(5000, "still waiting", { ref: true }),
      ]);
      assert.ok(ended instanceof ArchiveError, `${length} bytes: ${String(ended)}`);
      assert.match(ended.message, /the disk is gone/);
    }
  });
}

test("a whole archive is read, contents and all", async () => {
  const found: string[] = [];
  for await (const { name, content } of readEntries(Readable.from([archive], { objectMode: false }))) {
    found.push(`${name} ${(await text(Readable.from(content))).length}`);
  }
  assert.deepEqual(found, ["a 3000", "b 700", "c 0"]);
});
