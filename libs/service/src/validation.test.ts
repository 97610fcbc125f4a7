import assert from "node:assert/strict";
import { test } from "node:test";

import { createValidatorCompiler } from "./validation.ts";

const compile = (schema: object, httpPart: string) =>
  createValidatorCompiler()({ schema, httpPart, method: "PUT", url: "/" } as never) as (value: unknown) => boolean;

for (const schema of [
  { type: "integer" },
  { type: "integer", minimum: 0 },
  { type: ["integer", "null"] },
  { anyOf: [{ type: "integer" }, { type: "null" }] },
]) {
  test(`integers that numbers do not hold exactly are refused: ${JSON.stringify(schema)}`, () => {
    const body = { type: "object", properties: { bytes: schema, list: { type: "array", items: schema } } };
    const isValid = compile(body, "body");
    assert.ok(isValid({ bytes: Number.MAX_SAFE_INTEGER, list: [0] }));
    for (const value of [2 ** 53, 9_007_199_254_740_994, 1e308]) {
      assert.ok(!isValid({ bytes: value }), String(value));
      assert.ok(!isValid({ list: [value] }), String(value));
    }
    const isValidQuery = compile({ type: "object", properties: { bytes: schema } }, "querystring");
    assert.ok(!isValidQuery({ bytes: "9007199254740994" }));
  });
}

test("numbers, and limits that a schema says, are left as they are", () => {
  const isValid = compile(
    {
      type: "object",
      properties: { any: { type: "number" }, few: { type: "integer", maximum: 10 }, type: { enum: [1e300] } },
    },
    "body",
  );
  assert.ok(isValid({ any: 1e308, few: 10, type: 1e300 }));
  assert.ok(!isValid({ few: 11 }));
});
