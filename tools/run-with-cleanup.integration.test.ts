import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { readProcesses, waitUntil } from "@swath/testing";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "swath-cleanup-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Started {
  readonly directory: string;
  readonly pids: readonly number[];
}

/** Deploys a cluster, starts a program with an environment of its own, writes down what runs, and ends in some way. */
const writeProgram = (name: string, end: string) => {
  const file = join(folder, `${name}.ts`);
  const testing = JSON.stringify(join(root, "libs/testing/src/index.ts"));
  const text = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createTestCluster, dummyServiceOnly } from ${testing};
const cluster = await createTestCluster(dummyServiceOnly);
const { status, stderr } = await cluster.apply();
if (status !== 0) throw new Error(stderr);
const other = spawn("sleep", ["600"], { stdio: "ignore", env: { PATH: process.env.PATH } });
const pids = [other.pid, ...(await cluster.pods()).map(({ pid }) => pid)].filter((pid) => pid !== undefined);
writeFileSync(process.argv[2] + ".new", JSON.stringify({ directory: cluster.directory, pids }));
(await import("node:fs")).renameSync(process.argv[2] + ".new", process.argv[2]);
${end}
`;
  writeFileSync(file, text);
  return file;
};

const ENDS = [
  { title: "is out of memory", end: "process.abort();", signal: undefined, status: 128 + 6 },
  { title: "throws", end: 'setTimeout(() => { throw new Error("on purpose"); });', signal: undefined, status: 1 },
  { title: "is asked to end", end: "setInterval(() => {}, 1000);", signal: "SIGTERM", status: 128 + 15 },
  { title: "is interrupted", end: "setInterval(() => {}, 1000);", signal: "SIGINT", status: 128 + 2 },
] as const;

for (const [index, { title, end, signal, status }] of ENDS.entries()) {
  test(`deletes the clusters of a program that ${title}, and ends its processes`, async () => {
    const report = join(folder, `${index}.json`);
    const child = spawn(
      process.execPath,
      [join(root, "tools/run-with-cleanup.ts"), writeProgram(`program-${index}`, end), report],
      { stdio: "ignore" },
    );
    const ended = once(child, "exit");
    await waitUntil("the program has deployed", () => existsSync(report) || child.exitCode !== null);
    const { directory, pids } = JSON.parse(readFileSync(report, "utf8")) as Started;
    assert.ok(pids.length > 1);
    if (signal !== undefined) {
      child.kill(signal);
    }
    assert.deepEqual(await ended, [status, null]);
    const running = new Set(readProcesses().map(({ pid }) => pid));
    assert.deepEqual(
      pids.filter((pid) => running.has(pid)),
      [],
    );
    assert.ok(!existsSync(directory), directory);
  });
}
