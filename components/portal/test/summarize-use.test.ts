import assert from "node:assert/strict";
import { test } from "node:test";

import { costOf, listDays, summarizeUse } from "../web/src/admin/use/summarize-use.ts";

const NOW = Date.parse("2026-03-02T12:00:00Z");

test("jobs are summed up by the days on which they ran, over midnight and until now", () => {
  const days = listDays(3, NOW);
  assert.deepEqual(days, ["2026-02-28", "2026-03-01", "2026-03-02"]);
  const jobs = [
    { status: "successful", started: "2026-02-28T23:00:00Z", finished: "2026-03-01T02:00:00Z" },
    { status: "running", started: "2026-03-02T11:30:00Z" },
    { status: "failed", started: "2026-02-27T00:00:00Z", finished: "2026-02-27T01:00:00Z" },
    { status: "accepted" },
  ];
  const use = summarizeUse("eric", { jobs, bytes: 2 * 2 ** 30 }, days, NOW);
  assert.deepEqual(use.daily, [1, 2, 0.5]);
  assert.deepEqual([use.jobs, use.failed, use.hours], [4, 1, 3.5]);
  assert.equal(costOf(use, { hour: 2, gib: 3 }).toFixed(3), "7.600");
});
