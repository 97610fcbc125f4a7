import assert from "node:assert/strict";
import { test } from "node:test";

import { type Candidate, planRetention } from "./plan.ts";
import type { RetentionRule } from "./rules.ts";

const NOW = new Date("2026-06-30T00:00:00Z");
const daysAgo = (days: number) => new Date(NOW.getTime() - days * 86_400_000);
const candidate = (tag: string | undefined, pushed: number, pulled?: number, isImmutable = false): Candidate => ({
  digest: `sha256:${tag ?? "none"}${pushed}`,
  tag,
  pushedAt: daysAgo(pushed),
  pulledAt: pulled === undefined ? undefined : daysAgo(pulled),
  isImmutable,
});
const rule = (change: Partial<RetentionRule>): RetentionRule => ({
  template: "latestPushedK",
  count: 1,
  tags: "**",
  excludesTags: false,
  repositories: "**",
  excludesRepositories: false,
  untagged: false,
  isDisabled: false,
  ...change,
});
const ALL = [
  candidate("v1", 30, 1),
  candidate("v2", 20),
  candidate("v3", 10, 9),
  candidate("dev-1", 2),
  candidate("dev-2", 1),
  candidate(undefined, 3),
];
const kept = (rules: readonly RetentionRule[], candidates = ALL) =>
  planRetention("tools/ndvi", candidates, rules, NOW)
    ?.filter(({ isKept }) => isKept)
    .map(({ candidate: { tag } }) => tag);

test("each template keeps what it says, and rules add up", () => {
  assert.deepEqual(kept([rule({ count: 2, tags: "v*" })]), ["v2", "v3"]);
  assert.deepEqual(kept([rule({ count: 1, template: "latestPulledN" })]), ["v1"]);
  assert.deepEqual(kept([rule({ count: 10, template: "nDaysSinceLastPush" })]), ["v3", "dev-1", "dev-2"]);
  assert.deepEqual(kept([rule({ count: 9, template: "nDaysSinceLastPull" })]), ["v1", "v3"]);
  assert.deepEqual(kept([rule({ template: "always", tags: "dev-*", excludesTags: true })]), ["v1", "v2", "v3"]);
  assert.deepEqual(kept([rule({ tags: "v*" }), rule({ tags: "dev-*" })]), ["v3", "dev-2"]);
});

test("artifacts without a tag are kept where a rule says so", () => {
  assert.deepEqual(kept([rule({ template: "always", untagged: true, tags: "v1" })]), ["v1", undefined]);
});

test("immutable tags stay, whatever the rules say", () => {
  assert.deepEqual(kept([rule({ count: 1 })], [candidate("old", 90, undefined, true), candidate("new", 1)]), [
    "old",
    "new",
  ]);
});

test("a repository that no rule speaks of is left alone, and nothing is kept for nobody", () => {
  assert.equal(kept([rule({ repositories: "other" })]), undefined);
  assert.equal(kept([rule({ repositories: "tools/*", excludesRepositories: true })]), undefined);
  assert.equal(kept([rule({ isDisabled: true })]), undefined);
  assert.equal(kept([]), undefined);
  assert.deepEqual(kept([rule({ count: 0 })]), []);
});
