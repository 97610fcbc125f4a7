import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { test } from "node:test";

import { createTestCluster, dummyServiceOnly, readProcesses } from "@swath/testing";

import { TEST_RUN, endTestProcesses } from "./end-test-processes.ts";

test("ends the processes of an interrupted run and its clusters, and no others", async () => {
  const run = randomUUID();
  const start = (id: string) =>
    spawn("sleep", ["60"], { detached: true, stdio: "ignore", env: { ...process.env, [TEST_RUN]: id } });
  const own = start(run);
  const other = start(randomUUID());
  const cluster = await createTestCluster({ ...dummyServiceOnly, [TEST_RUN]: run });
  try {
    const { status, stderr } = await cluster.apply();
    assert.equal(status, 0, stderr);
    const pods = (await cluster.pods()).flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
    assert.ok(pods.length > 0);
    const ended = once(own, "exit");
    endTestProcesses(run);
    await ended;
    const running = new Set(readProcesses().map(({ pid }) => pid));
    assert.deepEqual(
      pods.filter((pid) => running.has(pid)),
      [],
    );
    assert.ok(!existsSync(cluster.directory));
    assert.equal(other.exitCode, null);
    assert.equal(other.signalCode, null);
  } finally {
    other.kill("SIGKILL");
    await cluster.close();
  }
});
