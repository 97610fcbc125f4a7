import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";

import { type ZipFile, writeZip } from "./index.ts";

/** Python's own reader is the other program. */
const skip =
  spawnSync("python3", ["--version"]).status === 0
    ? false
    : "python3: not installed (on Debian: apt-get install python3)";
const modified = new Date("2024-05-06T07:08:10Z");

test("an archive of streams is read by another program: names of any script, empty files, many chunks", { skip }, () =>
  check([
    { name: "scenes/ä 場.txt", modified, content: toStream([Buffer.from("first "), Buffer.from("second")]) },
    { name: "scenes/empty", modified, content: toStream([]) },
    { name: "scenes/large.bin", modified, content: toStream([Buffer.alloc(100_000, 7)]) },
  ]),
);

test("so is one of bytes, and one of both", { skip }, async () => {
  const known: readonly ZipFile[] = [
    { name: "scenes/ä 場.txt", modified, content: Buffer.from("first second") },
    { name: "scenes/empty", modified, content: Buffer.alloc(0) },
    { name: "scenes/large.bin", modified, content: Buffer.alloc(100_000, 7) },
  ];
  await check(known);
  await check(known.map((file, index) => (index === 1 ? { ...file, content: toStream([]) } : file)));
});

test("bytes alone need no Zip64 and are the same archive each time; names may be none", async () => {
  const once = await buffer(writeZip([{ name: "a", content: Buffer.from("x") }]));
  assert.equal(once.length, 30 + 1 + 1 + 46 + 1 + 22);
  assert.deepEqual(await buffer(writeZip([{ name: "a", content: Buffer.from("x") }])), once);
  assert.equal((await buffer(writeZip([]))).length, 22);
});

async function check(files: readonly ZipFile[]): Promise<void> {
  const bytes = await buffer(writeZip(files));
  const folder = mkdtempSync(join(tmpdir(), "swath-zip-"));
  try {
    writeFileSync(join(folder, "a.zip"), bytes);
    const script =
      "import json,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nprint(json.dumps([[i.filename,len(z.read(i)),list(i.date_time)] for i in z.infolist()]))";
    const { stdout, stderr } = spawnSync("python3", ["-c", script, join(folder, "a.zip")], { encoding: "utf8" });
    assert.deepEqual(
      JSON.parse(stdout || "null"),
      [12, 0, 100_000].map((size, index) => [files[index]?.name, size, [2024, 5, 6, 7, 8, 10]]),
      stderr,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function toStream(chunks: readonly Buffer[]): () => Promise<AsyncIterable<Uint8Array>> {
  return async () =>
    (async function* () {
      yield* chunks;
    })();
}
