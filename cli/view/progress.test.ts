import assert from "node:assert/strict";
import { test } from "node:test";

import type { PodStatus } from "../targets/pod-status.ts";
import { createProgress } from "./progress.ts";

const pod = (name: string, phase: PodStatus["phase"], message?: string, ready = false): PodStatus => ({
  name,
  namespace: "test",
  workload: name,
  component: name,
  phase,
  ready,
  restarts: 0,
  createdAt: "2026-01-01T00:00:00Z",
  ...(message !== undefined && { message }),
});

test("says once what several pods wait for, and each other step of each pod", () => {
  let text = "";
  const stdout = { isTTY: false, write: (part: string) => (text += part) } as unknown as NodeJS.WriteStream;
  const { show } = createProgress(stdout);
  show([pod("a", "Pending", "waiting for postgres"), pod("b", "Pending", "waiting for postgres")]);
  show([pod("a", "Running", "starting"), pod("b", "Pending", "waiting for postgres")]);
  show([pod("a", "Running", "waiting for the identity service"), pod("b", "Running", "starting")]);
  show([pod("a", "Running", undefined, true), pod("b", "Running", "waiting for the identity service")]);
  assert.deepEqual(text.trimEnd().split("\n"), [
    "  waiting for postgres",
    "  test/a: Running (starting)",
    "  waiting for the identity service",
    "  test/b: Running (starting)",
    "  test/a: Running and ready",
  ]);
});
