import assert from "node:assert/strict";
import { test } from "node:test";
import { globFiles, segmentMatcher } from "./glob.ts";

test("segments match as in glob(3)", () => {
  assert.ok(segmentMatcher("*.txt").test("a.txt"));
  assert.ok(!segmentMatcher("*.txt").test(".a.txt"));
  assert.ok(segmentMatcher("[a-c]?").test("b1"));
  assert.ok(segmentMatcher("[!a]").test("b"));
  assert.ok(!segmentMatcher("[!a]").test("a"));
  assert.ok(segmentMatcher("a\\*").test("a*"));
  assert.ok(segmentMatcher("x(1)+").test("x(1)+"));
  assert.ok(segmentMatcher("*\n*").test("a\nb"));
});

test("many stars do not take for ever", () => {
  assert.ok(!segmentMatcher(`${"*".repeat(60)}b`).test("a".repeat(5000)));
});

test("a pattern that climbs out is refused", () => {
  assert.throws(() => globFiles((path) => `/tmp/${path}`, "../*"), /leads out/);
  assert.throws(() => globFiles((path) => `/tmp/${path}`, "a/../../etc/passwd"), /leads out/);
});
