import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, open, readdir, readlink, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { ContentFiles } from "./content-files.ts";
import { DamagedContentError } from "./content-reader.ts";
import { ContentStream } from "./content-stream.ts";
import type { ContentPart } from "../rows.ts";

const BLOCK = 64 << 10;
let folder: string;
let files: ContentFiles;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "content-stream-"));
  files = new ContentFiles(folder, Date.now, { reach: () => Promise.resolve() } as never);
  await files.prepare();
});
after(async () => {
  await files.close();
  await rm(folder, { recursive: true, force: true });
});

async function store(bytes: Buffer, key?: Buffer): Promise<ContentPart> {
  const writer = await files.create(["md5"], key);
  await writer.write(bytes);
  const { id, size } = await writer.finish();
  writer.settle();
  return { file: id, size, form: 1 };
}

/** Holds on to as many blocks as it may, as a slow socket does. */
async function readAll(stream: ContentStream): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const held: { bytes: Buffer; memory: Buffer }[] = [];
  try {
    for (let block = await stream.next(); block !== undefined; block = await stream.next()) {
      held.push(block);
      if (held.length === stream.depth) {
        const oldest = held.shift() as (typeof held)[number];
        pieces.push(Buffer.from(oldest.bytes));
        stream.release(oldest);
      }
    }
    return Buffer.concat([...pieces, ...held.map(({ bytes }) => Buffer.from(bytes))]);
  } finally {
    await stream.close();
  }
}

test("ranges through several files come whole and in order, encrypted or not", async () => {
  const sizes = [3 * BLOCK + 5, 1, 40 * BLOCK, BLOCK];
  const contents = sizes.map((size) => randomBytes(size));
  const all = Buffer.concat(contents);
  for (const key of [undefined, randomBytes(32)]) {
    const parts: ContentPart[] = [];
    for (const content of contents) {
      parts.push(await store(content, key));
    }
    const first = sizes[0] as number;
    for (const [start, end] of [
      [0, all.length],
      [0, 1],
      [all.length - 1, all.length],
      [BLOCK - 1, BLOCK + 1],
      [first - 1, first + 2],
      [first + 1 + 17 * BLOCK + 3, all.length - BLOCK - 9],
      [12_345, 12_345 + 9 * BLOCK],
    ] as const) {
      const read = await readAll(new ContentStream(files, parts, start, end, key));
      assert.ok(read.equals(all.subarray(start, end)), `${start} to ${end}${key === undefined ? "" : ", encrypted"}`);
    }
  }
});

test("blocks before a damaged one are given, the damaged one never, though it is read ahead", async () => {
  const content = randomBytes(30 * BLOCK);
  const part = await store(content);
  const file = await open(files.pathOf(part.file), "r+");
  await file.write(Buffer.from([(content[20 * BLOCK + 7] as number) ^ 1]), 0, 1, 20 * BLOCK + 7);
  await file.close();
  const stream = new ContentStream(files, [part], 0, part.size);
  let provided = 0;
  await assert.rejects(
    async () => {
      for (let block = await stream.next(); block !== undefined; block = await stream.next()) {
        assert.ok(block.bytes.equals(content.subarray(provided, provided + block.bytes.length)));
        provided += block.bytes.length;
        stream.release(block);
      }
    },
    (error) => error instanceof DamagedContentError && error.message.includes(`from ${20 * BLOCK} on`),
  );
  await stream.close();
  assert.ok(provided > 0 && provided <= 20 * BLOCK);
});

test("a file that is gone or too short is said by the first block", async () => {
  const part = await store(randomBytes(9 * BLOCK));
  await truncate(files.pathOf(part.file), 5 * BLOCK);
  const short = new ContentStream(files, [part], 0, part.size);
  await assert.rejects(short.next(), DamagedContentError);
  await short.close();
  await rm(files.pathOf(part.file));
  const gone = new ContentStream(files, [part], 0, part.size);
  await assert.rejects(gone.next(), { code: "ENOENT" });
  await gone.close();
});

test("who takes more blocks than there is memory for is told, and not that the content is over", async () => {
  const part = await store(randomBytes(40 * BLOCK));
  const stream = new ContentStream(files, [part], 0, part.size);
  await assert.rejects(async () => {
    while ((await stream.next()) !== undefined) {
      // Nothing is given back.
    }
  }, /memory of this stream/);
  await stream.close();
});

test("a stream that is closed early lets go of its files while reads are under way", async () => {
  const parts = [await store(randomBytes(3 * BLOCK)), await store(randomBytes(40 * BLOCK))];
  const stream = new ContentStream(files, parts, 0, 43 * BLOCK);
  const block = await stream.next();
  assert.ok(block);
  const closing = stream.close();
  stream.release(block);
  await closing;
  const names = await readdir("/proc/self/fd");
  const opened = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
  assert.deepEqual(
    opened.filter((path) => parts.some(({ file }) => path === files.pathOf(file))),
    [],
  );
});
