import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { StallMeter } from "./stall-meter.ts";

/** Uses the processor for so long, whatever else the machine does. */
function work(milliseconds: number): void {
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const until = used() + milliseconds;
  while (used() < until) {
    // Nothing is left to do.
  }
}

test("sees the longest stall since the last reading, and none while the thread only waits", async () => {
  const meter = new StallMeter();
  try {
    assert.equal(meter.read(), 0);
    work(120);
    assert.ok(meter.read() >= 120);
    await sleep(20);
    meter.read();
    // Without processor time: the thread sleeps.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120);
    assert.ok(meter.read() < 60);
  } finally {
    meter.stop();
  }
});

test("adds nothing up over several turns of the loop", async () => {
  const meter = new StallMeter();
  try {
    meter.read();
    for (let turn = 0; turn < 8; turn += 1) {
      work(20);
      await sleep(10);
    }
    assert.ok(meter.read() < 120);
  } finally {
    meter.stop();
  }
});
