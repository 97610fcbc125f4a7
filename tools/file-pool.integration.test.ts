import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";

import { type FileResult, runFiles } from "./file-pool.ts";

const start = (code: string) => spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "pipe"] });

async function run(files: readonly string[], isStopped: () => boolean = () => false): Promise<readonly FileResult[]> {
  const results: FileResult[] = [];
  for await (const result of runFiles(files, start, isStopped)) {
    results.push(result);
  }
  return results;
}

test("runs every file, several at once, and says which failed and what they printed", async () => {
  const results = await run(["setTimeout(() => console.log('one'), 3000)", "console.error('two')", "process.exit(3)"]);
  assert.equal(results.length, 3);
  const found = new Map(results.map((result) => [result.file, result]));
  assert.equal(found.get("console.error('two')")?.output, "two\n");
  assert.deepEqual(
    results.filter(({ passed }) => !passed).map(({ file }) => file),
    ["process.exit(3)"],
  );
  assert.equal(results.at(-1)?.output, "one\n");
});

test("starts no file after it is stopped, and waits for those that run", async () => {
  let isStopped = false;
  const files = Array.from({ length: 20 }, (_, index) => `console.log(${index})`);
  const results: FileResult[] = [];
  for await (const result of runFiles(files, start, () => isStopped)) {
    results.push(result);
    isStopped = true;
  }
  assert.ok(results.length >= 1 && results.length < 10, `${results.length} files ran`);
});
