import assert from "node:assert/strict";
import { test } from "node:test";

import { waitForWorkspace } from "./wait-for-workspace.ts";

const FAILING = {
  status: "provisioning",
  status_reason: "Step bucket failed 2 times and is tried again: the cloud answers 401",
  steps: [{ name: "bucket", state: "failed", attempts: 2 }],
};

async function waitThrough(records: readonly object[], options = {}) {
  const printed: string[] = [];
  let at = 0;
  const failure = await waitForWorkspace({
    name: "ws-eric",
    read: () => Promise.resolve({ status: 200, body: records[Math.min(at++, records.length - 1)] }),
    print: (text) => printed.push(text),
    pauseMs: 1,
    ...options,
  }).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
  return { printed, failure, reads: at };
}

test("prints each reason once while it waits", async () => {
  const again = { ...FAILING, status_reason: FAILING.status_reason.replace("2 times", "3 times") };
  const { printed, failure } = await waitThrough([
    { status: "provisioning" },
    FAILING,
    again,
    { status: "provisioning" },
    { status: "ready" },
  ]);
  assert.equal(failure, undefined);
  assert.deepEqual(printed, ["workspace ws-eric is provisioning: Step bucket fails: the cloud answers 401"]);
});

test("stops where a step goes on failing, with the reason", async () => {
  const { failure, reads } = await waitThrough([
    FAILING,
    { ...FAILING, steps: [{ name: "bucket", state: "failed", attempts: 5 }] },
  ]);
  assert.match(failure ?? "", /is not ready: Step bucket .*the cloud answers 401/);
  assert.equal(reads, 2);
});

test("stops where nothing works on it", async () => {
  const { failure } = await waitThrough([{ status: "provisioning", status_reason: "No reconciler is at work" }], {
    idleMs: 20,
  });
  assert.match(failure ?? "", /No reconciler is at work/);
});

test("stops after the time limit", async () => {
  const { failure } = await waitThrough([{ status: "provisioning" }], { timeoutMs: 20 });
  assert.match(failure ?? "", /not ready after 0.02 s/);
});
