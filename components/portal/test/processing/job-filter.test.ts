import assert from "node:assert/strict";
import { test } from "node:test";

import {
  isEmptyFilter,
  measureList,
  readFilter,
  toJobQuery,
  toPageStarts,
  writeFilter,
} from "../../web/processing/model/job-filter.ts";

test("a filter lives in the page's address, and what is not understood is left out", () => {
  const query =
    "process=ndvi&process=crop&status=failed&status=odd&from=2026-11-01&to=never&minDuration=60&maxDuration=x";
  const filter = readFilter(new URLSearchParams(query));
  assert.deepEqual(filter, { processes: ["ndvi", "crop"], statuses: ["failed"], from: "2026-11-01", minDuration: 60 });
  assert.deepEqual(readFilter(writeFilter(filter)), filter);
  assert.equal(isEmptyFilter(readFilter(new URLSearchParams("status=odd"))), true);
});

test("the service is asked in its own words", () => {
  const page = { limit: 100, skip: 200 };
  const response = new URLSearchParams(
    toJobQuery({ processes: ["a", "b"], statuses: ["failed", "running"], from: "2026-11-01", maxDuration: 5 }, page),
  );
  assert.deepEqual(
    [response.get("processID"), response.get("status"), response.get("skip")],
    ["a,b", "failed,running", "200"],
  );
  assert.equal(response.get("datetime"), `${new Date("2026-11-01T00:00:00").toISOString()}/..`);
  assert.equal(response.get("maxDuration"), "5");
  assert.equal(new URLSearchParams(toJobQuery({ processes: [], statuses: [] }, page)).get("status"), null);
});

test("only the pages in sight are fetched", () => {
  assert.deepEqual(toPageStarts(0, 20, 5000), [0]);
  assert.deepEqual(toPageStarts(95, 130, 5000), [0, 100]);
  assert.deepEqual(toPageStarts(4990, 5020, 5000), [4900]);
  assert.deepEqual(toPageStarts(0, 20, 0), [0]);
});

test("a list is as long as the service says, else as far as it was read and a page more", () => {
  const full = { rows: 100, total: undefined };
  assert.deepEqual(measureList({ start: 0, rows: 100, total: 700 }, undefined), { rows: 700, isExact: true });
  const first = measureList({ start: 0, ...full }, undefined);
  assert.deepEqual(first, { rows: 200, isExact: false });
  const second = measureList({ start: 100, ...full }, first);
  assert.deepEqual(second, { rows: 300, isExact: false });
  assert.equal(measureList({ start: 0, ...full }, second), second, "scrolled back");
  const end = measureList({ start: 200, rows: 7, total: undefined }, second);
  assert.deepEqual(end, { rows: 207, isExact: true });
  assert.equal(measureList({ start: 0, ...full }, end), end);
});
