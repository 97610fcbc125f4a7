import assert from "node:assert/strict";
import { test } from "node:test";

import { createHealthHistory } from "../services/health-history.ts";

test("each look is kept, of a service that is down too", async () => {
  const states = ["up", "down"] as const;
  let looks = 0;
  const history = createHealthHistory(
    {
      look: async () =>
        new Map([["ades", { status: states[looks++ % 2] ?? "up", checkedAt: `2026-01-01T00:0${looks}:00Z`, ms: 3 }]]),
    },
    1,
  );
  while (looks < 3) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  history.close();
  await new Promise((resolve) => setImmediate(resolve));
  const { ades = [] } = history.read();
  assert.deepEqual(
    ades.slice(0, 2).map(({ up, at }) => [up, at]),
    [
      [true, "2026-01-01T00:01:00Z"],
      [false, "2026-01-01T00:02:00Z"],
    ],
  );
});
