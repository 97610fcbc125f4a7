import assert from "node:assert/strict";
import { test } from "node:test";

import { convertPolicy } from "./convert-policy.ts";

const convert = (rules: readonly unknown[], more: object = {}) =>
  convertPolicy({
    id: "1",
    name: "p",
    config: { resource_id: "r", action: "view", "T&C": [], rules, ...more },
    scopes: [],
  });

test("rules that only name users become a user policy", () => {
  for (const [rule, users] of [
    [{ EQUAL: { user_name: "eric" } }, ["eric"]],
    [{ EQUAL: { id: "7" } }, ["7"]],
    [{ OR: [{ EQUAL: { user_name: "eric" } }, { EQUAL: { userName: "bob" } }] }, ["eric", "bob"]],
    [{ AND: [{ EQUAL: { user_name: "eric" } }] }, ["eric"]],
    [{ OR: { EQUAL: { sub: "7" } } }, ["7"]],
  ] as const) {
    assert.deepEqual(convert([rule]), { kind: "users", users }, JSON.stringify(rule));
  }
});

test("everything else stays what it is: no conversion lets anybody in who was not", () => {
  const eric = { EQUAL: { user_name: "eric" } };
  for (const rules of [
    [],
    [eric, { EQUAL: { user_name: "bob" } }],
    [{ AND: [eric, { LESS: { num_acces: 3 } }] }],
    [{ OR: [eric, { EQUAL: { isOperator: true } }] }],
    [{ OR: [] }],
    [{ NOT: [eric] }],
    [{ XOR: [eric] }],
    [{ EQUAL: { user_name: "eric", age: 3 } }],
    [{ EQUAL: { user_name: ["eric"] } }],
    [{ EQUAL: { user_name: "" } }],
    [null],
    ["x"],
    [{ EQUAL: { user_name: "eric" }, OR: [] }],
  ]) {
    assert.equal(convert(rules).kind, "kept", JSON.stringify(rules));
  }
  assert.equal(convert([eric], { "T&C": ["fair-use"] }).kind, "kept");
  assert.equal(convert([eric], { delegate: "https://pdp.example.org/" }).kind, "kept");
});
