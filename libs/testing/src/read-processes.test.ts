import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";

import { readProcesses } from "./read-processes.ts";
import { waitUntil } from "./wait-until.ts";

test("a process that has ended is left out, also while its parent has not asked how", async () => {
  // The shell becomes a program that never asks about the child it finds itself with.
  const parent = spawn("sh", ["-c", "sleep 0.2 & exec sleep 60"], { stdio: "ignore" });
  const findChildren = () => readProcesses().filter((found) => found.parent === parent.pid);
  try {
    await waitUntil("the child runs", () => findChildren().length === 1);
    await waitUntil("the child has ended", () => findChildren().length === 0, 5);
    assert.ok(readProcesses().some(({ pid }) => pid === parent.pid));
  } finally {
    parent.kill("SIGKILL");
  }
});
