import assert from "node:assert/strict";
import { test } from "node:test";

import { toOpenApi30 } from "./openapi-3.0.ts";

const convert = (schema: unknown): unknown =>
  (
    toOpenApi30({ openapi: "3.1.0", components: { schemas: { it: schema } } }) as {
      components: { schemas: { it: unknown } };
    }
  ).components.schemas.it;

for (const [schema, expected] of [
  [
    { type: ["string", "null"], minLength: 1 },
    { type: "string", nullable: true, minLength: 1 },
  ],
  [{ anyOf: [{ type: "integer" }, { type: "null" }] }, { type: "integer", nullable: true }],
  [{ type: ["string", "array"] }, { anyOf: [{ type: "string" }, { type: "array", items: {} }] }],
  [
    { anyOf: [{ type: "integer" }, { type: "string" }, { type: "null" }] },
    { anyOf: [{ type: "integer" }, { type: "string" }], nullable: true },
  ],
  [{ type: "null" }, { enum: [null], nullable: true }],
  [{ const: "Feature" }, { enum: ["Feature"] }],
  [
    { type: "number", exclusiveMinimum: 0 },
    { type: "number", minimum: 0, exclusiveMinimum: true },
  ],
  [
    { type: "string", examples: ["a", "b"] },
    { type: "string", example: "a" },
  ],
  [
    { type: "array", prefixItems: [{ type: "string" }] },
    { type: "array", items: {} },
  ],
  [
    // Names of properties are no keywords.
    {
      type: "object",
      properties: { const: { const: 1 }, type: true },
      additionalProperties: { type: ["null", "string"] },
    },
    {
      type: "object",
      properties: { const: { enum: [1] }, type: {} },
      additionalProperties: { type: "string", nullable: true },
    },
  ],
  [{ $ref: "#/components/schemas/a", description: "of it" }, { $ref: "#/components/schemas/a" }],
] as const) {
  test(`OpenAPI 3.0 has ${JSON.stringify(schema)} as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(convert(schema), expected);
  });
}

test("values of examples stay as they are", () => {
  const content = { "application/json": { example: { schema: { const: 1 } }, schema: { const: 2 } } };
  const paths = { "/a": { get: { responses: { 200: { description: "a", content } } } } };
  assert.deepEqual(toOpenApi30({ openapi: "3.1.0", paths, webhooks: {} }), {
    openapi: "3.0.3",
    paths: {
      "/a": {
        get: {
          responses: {
            200: {
              description: "a",
              content: { "application/json": { example: { schema: { const: 1 } }, schema: { enum: [2] } } },
            },
          },
        },
      },
    },
  });
});
