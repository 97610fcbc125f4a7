import assert from "node:assert/strict";
import { test } from "node:test";

import { evaluateRules, findRuleMistake } from "./rules.ts";

const ERIC = {
  id: "b8c8c62a",
  user_name: "eric",
  isOperator: false,
  num_access: 6,
  limit: "8",
  groups: ["/maps", "/oceans"],
  emails: [{ value: "eric@example.org" }],
  company: { name: "maps" },
};
const equal = (values: object) => ({ EQUAL: values });
const eric = equal({ user_name: "eric" });
const bob = equal({ user_name: "bob" });
const unknown = equal({ shoe_size: 43 });

for (const [what, rules, expected] of [
  ["a comparison that holds", [eric], true],
  ["one that does not", [bob], false],
  ["several rules: all", [eric, bob], false],
  ["several attributes: all", [equal({ user_name: "eric", isOperator: false })], true],
  ["AND", [{ AND: [eric, equal({ isOperator: false })] }], true],
  ["OR", [{ OR: [bob, eric] }], true],
  ["XOR of two that hold", [{ XOR: [eric, equal({ num_access: 6 })] }], false],
  ["XOR of one", [{ XOR: [eric, bob] }], true],
  ["NOT", [{ NOT: [bob] }], true],
  ["NOT of an object", [{ NOT: eric }], false],
  [
    "nested",
    [{ AND: [{ NOT: [{ OR: [bob, { GREATER: { num_access: 9 } }] }] }, { LESSEQUAL: { num_access: 6 } }] }],
    true,
  ],
  ["numbers in texts", [{ LESS: { num_access: "10" } }], true],
  ["numbers in texts of the attribute", [{ GREATEREQUAL: { limit: 8 } }], true],
  ["texts by their order", [{ GREATER: { user_name: "dora" } }], true],
  ["an item of a list", [equal({ groups: "/maps" })], true],
  ["an object in a list", [equal({ emails: { value: "eric@example.org" } })], true],
  ["a whole list", [equal({ emails: [{ value: "eric@example.org" }] })], true],
  ["a part of an object", [equal({ "company.name": "maps" })], true],
  ["what is not known", [unknown], undefined],
  ["NOT of what is not known lets nobody in", [{ NOT: [unknown] }], undefined],
  ["OR with what is not known", [{ OR: [unknown, eric] }], true],
  ["AND with what is not known", [{ AND: [unknown, bob] }], false],
  ["an inherited member is no attribute", [equal({ constructor: "x" })], undefined],
  ["no rule", [], undefined],
  ["two operators", [{ EQUAL: { user_name: "eric" }, LESS: { num_access: 1 } }], undefined],
  ["no operator", [{ HAS: { user_name: "eric" } }], undefined],
  ["an empty combination", [{ NOT: [] }], undefined],
] as const) {
  test(`rules: ${what}`, () => assert.equal(evaluateRules(rules as never, ERIC), expected));
}

test("rules that cannot be decided on are refused when they come", () => {
  const deep = (levels: number): object => (levels === 0 ? eric : { NOT: [deep(levels - 1)] });
  for (const [rules, message] of [
    [undefined, /at least one rule/],
    [[], /at least one rule/],
    [["x"], /an object with one operator/],
    [[{ LIKE: {} }], /no operator/],
    [[{ __proto__: null, toString: {} }], /no operator/],
    [[{ EQUAL: "x" }], /attributes with their values/],
    [[{ AND: [] }], /at least one rule/],
    [[deep(25)], /deeper than 20/],
    [[{ OR: Array.from({ length: 600 }, () => eric) }], /larger than 500/],
    [[equal({ a: "x".repeat(3000) })], /longer than 2000/],
  ] as const) {
    assert.match(findRuleMistake(rules) ?? "", message);
  }
  assert.equal(findRuleMistake([deep(15)]), undefined);
});
