import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { writeZip } from "../files/zip-files.ts";

test("an archive is read by another program: names of any script, empty files, many chunks", () => {
  const contents = new Map([
    ["a", [Buffer.from("first "), Buffer.from("second")]],
    ["b", []],
    ["c", [Buffer.alloc(100_000, 7)]],
  ]);
  const names = ["scenes/ä 場.txt", "scenes/empty", "scenes/large.bin"];
  return check(contents, names);
});

async function check(contents: ReadonlyMap<string, readonly Buffer[]>, names: readonly string[]): Promise<void> {
  const modified = new Date("2024-05-06T07:08:10Z");
  const entries = [...contents.keys()].map((key, index) => ({ key, name: names[index] ?? "", size: 0, modified }));
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeZip(entries, async (key) => toStream(contents.get(key) ?? []))) {
    chunks.push(chunk);
  }
  const folder = mkdtempSync(join(tmpdir(), "swath-zip-"));
  try {
    writeFileSync(join(folder, "a.zip"), Buffer.concat(chunks));
    const script =
      "import json,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nprint(json.dumps([[i.filename,len(z.read(i)),list(i.date_time)] for i in z.infolist()]))";
    const { stdout, stderr } = spawnSync("python3", ["-c", script, join(folder, "a.zip")], { encoding: "utf8" });
    assert.deepEqual(
      JSON.parse(stdout || "null"),
      [12, 0, 100_000].map((size, index) => [names[index], size, [2024, 5, 6, 7, 8, 10]]),
      stderr,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function* toStream(chunks: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
