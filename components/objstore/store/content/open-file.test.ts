import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { OpenFile } from "./open-file.ts";

test("a file whose write failed keeps its number as long as other writes of it are under way", async () => {
  const folder = await mkdtemp(join(tmpdir(), "open-file-"));
  try {
    const second = Promise.withResolvers<{ bytesWritten: number }>();
    let calls = 0;
    const run = {
      write: () => {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error("no space left on device")) : second.promise;
      },
      fdatasync: () => Promise.resolve(),
      fsync: () => Promise.resolve(),
    };
    const memory = new Uint8Array(2 << 16);
    const file = new OpenFile(join(folder, "content"), ["md5"], memory, undefined, run as never);
    const writes = [file.append(0, 1 << 16), file.append(1 << 16, 1 << 16)];
    await assert.rejects(writes[0] as Promise<void>, /no space/);
    let isClosed = false;
    const closing = file.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isClosed, false, "the next file would get this one's number, and the second write");
    second.resolve({ bytesWritten: 1 << 16 });
    await closing;
    assert.equal(isClosed, true);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a file with a failed write cannot be finished", async () => {
  const folder = await mkdtemp(join(tmpdir(), "open-file-"));
  try {
    const path = join(folder, "content");
    const run = {
      write: () => Promise.reject(new Error("input/output error")),
      fdatasync: () => Promise.resolve(),
      fsync: () => Promise.resolve(),
    };
    const file = new OpenFile(path, ["md5"], new Uint8Array(100), undefined, run as never);
    await assert.rejects(file.append(0, 100), /input\/output/);
    await assert.rejects(file.finish(undefined), /input\/output/);
    await file.close();
    assert.equal((await readFile(path)).length, 0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
