import assert from "node:assert/strict";
import { test } from "node:test";

import { readLimits } from "./limits.ts";

const pauseOf = (status: number, fields: Record<string, string>) =>
  readLimits(status, new Headers(fields), Date.parse("2026-01-01T00:00:00Z"))?.pauseSeconds;

test("limits of a registry: 429 pauses as long as it says, within bounds; nothing left pauses for a minute", () => {
  assert.equal(readLimits(200, new Headers()), undefined);
  assert.equal(pauseOf(429, {}), 60);
  assert.equal(pauseOf(429, { "retry-after": "7" }), 7);
  assert.equal(pauseOf(429, { "retry-after": "0" }), 1);
  assert.equal(pauseOf(429, { "retry-after": "99999999" }), 21_600);
  assert.equal(pauseOf(429, { "retry-after": "Thu, 01 Jan 2026 00:02:00 GMT" }), 120);
  assert.equal(pauseOf(429, { "retry-after": "soon" }), 60);
  assert.equal(pauseOf(200, { "ratelimit-limit": "100;w=21600", "ratelimit-remaining": "76;w=21600" }), 0);
  assert.equal(pauseOf(200, { "ratelimit-remaining": "0;w=21600" }), 60);
});
