import assert from "node:assert/strict";
import { test } from "node:test";

import { evaluate, parseExpression } from "./expression.ts";

const bands = new Map([
  ["red", Float64Array.of(1, 2)],
  ["nir", Float64Array.of(3, 2)],
]);

for (const [text, expected] of [
  ["(/ (- nir red) (+ nir red))", [0.5, 0]],
  ["x:(+ 1 2 red)", [4, 5]],
  ["(- red)", [-1, -2]],
  ["(where (> nir red) 1 -1)", [1, -1]],
  ["(& (>= red 1) (~ (== red 1)))", [0, 1]],
  ["(max red nir 2.5)", [3, 2.5]],
  ["(** (sqrt (* red red)) 2)", [1, 4]],
] as const) {
  test(text, () => {
    const value = evaluate(parseExpression(text).expression, bands);
    assert.deepEqual(Array.from(value as Float64Array), expected);
  });
}

test("names and bands are told", () => {
  const { name, bands: names } = parseExpression(" ndvi : (/ (- nir red) (+ nir red)) ");
  assert.deepEqual([name, names], ["ndvi", ["nir", "red"]]);
  assert.equal(parseExpression("(+ a 1)").name, "expression");
});

for (const [text, message] of [
  ["(+ red", /ends too early; a bracket is not closed/],
  ["(+ red))", /goes on after its end at character 7/],
  [")", /bracket too many at character 0/],
  ["(eval red)", /no known operation "eval"; known: \+ - /],
  ["(constructor red)", /no known operation "constructor"/],
  ["(where red)", /gives where 1 values; it takes 3/],
  ["(+)", /gives \+ 0 values; it takes one or more/],
  ["(+ ".repeat(200), /nested more than 100 times/],
  ["x".repeat(20_000), /longer than 10000 characters/],
] as const) {
  test(`refused: ${text.slice(0, 30)}`, () => {
    assert.throws(() => parseExpression(text), { name: "ToolError", message });
  });
}
