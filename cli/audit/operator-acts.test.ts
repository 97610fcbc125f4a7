import assert from "node:assert/strict";
import { test } from "node:test";

import { describeAct, isOperatorAct } from "./operator-acts.ts";
import { toSyslog } from "./to-syslog.ts";

test("what changes a deployment is an act, what looks at it is none", () => {
  for (const [command, ...args] of [
    ["deploy", "apply"],
    ["restart", "ades"],
    ["credentials", "rotate", "--keep-old"],
  ] as const) {
    assert.equal(isOperatorAct(command, args), true, command);
  }
  for (const [command, ...args] of [
    ["deploy", "template"],
    ["credentials"],
    ["pods"],
    ["audit", "list"],
    ["toString"],
  ] as const) {
    assert.equal(isOperatorAct(command, args), false, command);
  }
  assert.deepEqual(describeAct("deploy", ["apply", "swath", "--yes"]), {
    action: "swath deploy apply",
    words: ["swath"],
  });
  assert.deepEqual(describeAct("restart", ["ades"]), { action: "swath restart", words: ["ades"] });
});

test("a line is one syslog message, whatever is in it", () => {
  const line = JSON.stringify({ at: "2026-01-01T00:00:00.000Z", service: "a des\n", action: "x\ny" });
  const message = toSyslog({ n: 7, line, hash: "ab" }, 'c"]\\');
  assert.match(message, /^<109>1 2026-01-01T00:00:00\.000Z \S+ swath-a_des_ - audit \[swath@32473 n="7" hash="ab"/);
  assert.ok(message.includes('cluster="c\\"\\]\\\\"]'));
  assert.equal(message.split("\n").length, 2);
});
