import assert from "node:assert/strict";
import { test } from "node:test";

import { checkQuotas } from "./quotas.ts";
import { findExcess, whyCull } from "./watch.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000);
const profile = (more: object) => ({
  definition: { id: "p", groups: [], definition: { display_name: "P", slug: "p" }, ...more },
});
const limits = { idleSeconds: 3600, maxAgeSeconds: 0 };

test("a server that uses more memory or processes than it may is stopped with the reason", () => {
  const [limit, usage] = [2 ** 30, { memoryBytes: 2 ** 29, processes: 100 }];
  assert.equal(findExcess(usage, limit), undefined);
  assert.equal(findExcess({ ...usage, memoryBytes: 2 ** 31 }, 0), undefined);
  assert.match(findExcess({ ...usage, memoryBytes: 2 ** 31 }, limit) ?? "", /used 2048 MiB .* may use 1024 MiB/);
  assert.match(findExcess({ ...usage, processes: 1500 }, limit) ?? "", /more than 1024 processes/);
});

test("idle servers and old ones are stopped, by the profile's own limits where it has them", () => {
  const server = (idle: number, age: number, more = {}) => ({
    ...profile(more),
    last_activity: minutesAgo(idle),
    started: minutesAgo(age),
  });
  assert.equal(whyCull(server(59, 500), limits, now), undefined);
  assert.match(whyCull(server(61, 500), limits, now) ?? "", /nothing happened in it for 1 hours/);
  assert.equal(whyCull(server(61, 500, { idle_seconds: 0 }), limits, now), undefined);
  assert.match(whyCull(server(1, 500, { max_age_seconds: 60 }), limits, now) ?? "", /after 1 minutes/);
});

test("a full quota says what it is full of", () => {
  const quotas = { servers: 2, cores: 4, memoryBytes: 4 * 2 ** 30 };
  const running = (name: string, cores: number, memory: number) =>
    ({ name, cores, memory_bytes: String(memory) }) as never;
  checkQuotas(quotas, [running("a", 1, 2 ** 30)], { cores: 3, memoryBytes: 2 ** 30 });
  assert.throws(
    () => checkQuotas(quotas, [running("a", 0, 0), running("b", 0, 0)], { cores: 0, memoryBytes: 0 }),
    /2 servers at a time.*a, b/,
  );
  assert.throws(
    () => checkQuotas(quotas, [running("a", 2, 0)], { cores: 3, memoryBytes: 0 }),
    /4 cores; 2 are in use and this one asks for 3/,
  );
  assert.throws(
    () => checkQuotas(quotas, [running("", 0, 3 * 2 ** 30)], { cores: 0, memoryBytes: 2 * 2 ** 30 }),
    /4 GiB.*3 are in use.*default server/,
  );
});
