import assert from "node:assert/strict";
import { test } from "node:test";

import { formatBytes, formatDuration, formatRelative, formatTime, parseBytes } from "../src/format.ts";
import { RequestError, toRequestError } from "../src/problem.ts";
import { sortRows, toggleSort } from "../src/sort-rows.ts";

test("bytes", () => {
  const shown = [0, 999, 1000, 1536, 10 * 2 ** 20, 2 ** 40 * 1.5, -2048].map(formatBytes);
  assert.deepEqual(shown, ["0 B", "999 B", "1 KiB", "1.5 KiB", "10 MiB", "1.5 TiB", "-2 KiB"]);
  const read = ["2048", "500 MB", "1.5GiB", "1 ti", "", "many", "-1", "1 xb", "9999999 TiB"].map(parseBytes);
  assert.deepEqual(read, [2048, 5e8, 1.5 * 2 ** 30, 2 ** 40, ...Array<undefined>(5).fill(undefined)]);
});

test("durations and times", () => {
  assert.deepEqual([0.25, 9, 59.6, 75, 3600, 3725, 90_000].map(formatDuration), [
    "0.3 s",
    "9 s",
    "1 min",
    "1 min 15 s",
    "1 h",
    "1 h 2 min",
    "1 d 1 h",
  ]);
  assert.equal(formatTime(new Date("2019-04-11T12:50:59+02:00")), "2019-04-11 10:50 UTC");
  assert.equal(formatTime(new Date("no time")), "unknown");
  const now = new Date("2026-01-10T00:00:00Z");
  assert.match(formatRelative(new Date("2026-01-09T21:00:00Z"), now), /3/);
  assert.match(formatRelative(new Date("2026-01-12T00:00:00Z"), now), /2/);
});

test("rows are sorted as people count, and stay in order where they are equal", () => {
  const rows = [{ name: "a10" }, { name: "a2" }, { name: "A2", second: true }];
  assert.deepEqual(
    sortRows(rows, ({ name }) => name, "ascending").map(({ name }) => name),
    ["a2", "A2", "a10"],
  );
  assert.deepEqual(
    sortRows([1, 3, 2], (row) => row, "descending"),
    [3, 2, 1],
  );
  const once = toggleSort(undefined, "name");
  assert.deepEqual(toggleSort(once, "name"), { column: "name", direction: "descending" });
});

test("errors: problem details, OAuth, text, nothing", async () => {
  const read = async (body: string, type: string) =>
    toRequestError(new Response(body, { status: 418, headers: { "content-type": type } }));
  assert.equal((await read('{"detail":"No."}', "application/problem+json")).message, "No.");
  assert.equal((await read('{"error":"x","error_description":"Y."}', "application/json")).message, "Y.");
  assert.equal((await read("Tea.\n", "text/plain")).message, "Tea.");
  assert.equal((await read("{", "application/json")).message, "The request failed");
  assert.equal(new RequestError(500, {}).message, "The request failed with status 500.");
});
