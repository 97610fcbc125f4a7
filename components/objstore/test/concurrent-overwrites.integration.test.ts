import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { killStarted, startToCrash } from "./crash-support.ts";

const Bucket = "overwrites";
const Key = "one-key";
const WRITERS = 8;
const ROUNDS = 6;
const READERS = 3;
const MEBIBYTE = 2 ** 20;
const SIZES = [1000, 40_000, 300_000, MEBIBYTE, 4 * MEBIBYTE];

/** One write by when it was under way. */
interface Write {
  readonly started: number;
  ended: number;
}

/** The same eight letters all over, so that a byte of another write is seen wherever it lies. */
function toBody(mark: string, size: number): Buffer {
  return Buffer.alloc(size, mark);
}

const toMark = () => randomUUID().slice(0, 8);

test("writes of one key at the same time never mix, and a read gives the last of them that ended", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-mix-"));
  const started = await startToCrash(directory, "none", 0, 3);
  const { client } = started;
  const writes = new Map<string, Write>();
  let clock = 0;
  const tick = () => (clock += 1);
  let open = WRITERS;
  const write = async (size: number) => {
    const mark = toMark();
    const entry: Write = { started: tick(), ended: Number.POSITIVE_INFINITY };
    writes.set(mark, entry);
    const body = toBody(mark, size);
    const { ETag } = await client.send(new s3.PutObjectCommand({ Bucket, Key, Body: body }));
    entry.ended = tick();
    assert.equal(ETag, `"${createHash("md5").update(body).digest("hex")}"`);
  };
  const read = async () => {
    const began = tick();
    const { Body, ETag } = await client.send(new s3.GetObjectCommand({ Bucket, Key }));
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
    const ended = tick();
    const mark = bytes.toString("latin1", 0, 8);
    const found = writes.get(mark);
    assert.ok(found, "the bytes are of a write");
    assert.ok(bytes.equals(toBody(mark, bytes.length)), "all of them of the same write");
    assert.equal(ETag, `"${createHash("md5").update(bytes).digest("hex")}"`);
    assert.ok(found.started < ended);
    for (const later of writes.values()) {
      assert.ok(!(later.started > found.ended && later.ended < began), "a write was lost, or came back");
    }
  };
  try {
    await client.send(new s3.CreateBucketCommand({ Bucket }));
    await write(1000);
    await Promise.all([
      ...Array.from({ length: WRITERS }, async (_, n) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          await write(SIZES[(n + round) % SIZES.length] ?? 0);
        }
        open -= 1;
      }),
      ...Array.from({ length: READERS }, async () => {
        while (open > 0) {
          await read();
        }
      }),
    ]);
    await read();
  } finally {
    await killStarted(started);
    await rm(directory, { recursive: true, force: true });
  }
});
