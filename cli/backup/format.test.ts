import assert from "node:assert/strict";
import { Readable, Writable } from "node:stream";
import { test } from "node:test";

import { readBackup, writeBackup } from "./format.ts";

const PIECE = 65_536;
const CUTS = 150;

test("a backup that is cut short anywhere is told to be, and never waited for", async () => {
  const chunks: Buffer[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  const header = { version: "0", cluster: "a", domain: "b", createdAt: "", volumes: [], leftOut: [] };
  let seed = 7;
  const fill = (length: number) =>
    Array.from({ length }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return String.fromCodePoint(33 + (seed % 90));
    }).join("");
  await writeBackup(sink, header, async (archive) => {
    for (let index = 0; index < 30; index += 1) {
      await archive.addText(`volumes/a/${index}`, fill(index * 700));
    }
  });
  const whole = Buffer.concat(chunks);
  const read = async (bytes: Buffer) => {
    const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE) }, (_, index) =>
      bytes.subarray(index * PIECE, (index + 1) * PIECE),
    );
    let entries = 0;
    await readBackup(Readable.from(pieces), {
      header: () => undefined,
      entry: async ({ content }) => {
        entries += 1;
        for await (const chunk of content) {
          assert.ok(chunk.length > 0);
        }
      },
    });
    return entries;
  };
  assert.equal(await read(whole), 30);
  for (let cut = 0; cut < CUTS; cut += 1) {
    const length = 1 + Math.floor((cut / CUTS) * (whole.length - 2));
    await assert.rejects(read(whole.subarray(0, length)), /not whole/, `${length} bytes`);
  }
});
