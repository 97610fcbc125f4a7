import assert from "node:assert/strict";
import { test } from "node:test";

import { checkServerName, servicePrefix, toLabel } from "./names.ts";

test("no two servers have the same host, whatever they are called", () => {
  const names: readonly (readonly [string, string])[] = [
    ["eric", ""],
    ["eric", "lab"],
    ["eric--lab", ""],
    ["eric-", "lab"],
    ["Eric", ""],
    ["eric", "LAB"],
    ["er.ic", ""],
    ["er-ic", ""],
    ["jörg", ""],
    ["a".repeat(200), ""],
    ["a".repeat(199), "a"],
    ["..", ""],
    ["漢字", ""],
  ];
  const labels = names.map(([user, name]) => toLabel(user, name));
  assert.equal(new Set(labels).size, labels.length, labels.join(" "));
  for (const label of labels) {
    assert.match(label, /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  }
  assert.equal(labels[0], "eric");
  assert.equal(labels[1], "eric--lab");
});

test("names of servers are short and lead nowhere else", () => {
  checkServerName("my-lab_2.x");
  for (const wrong of ["a/b", "a b", "x".repeat(61), "a\n", "<b>"]) {
    assert.throws(() => checkServerName(wrong), /is not a server name/);
  }
  assert.equal(servicePrefix("a@b", "x"), "/user/a%40b/x/");
});
