import assert from "node:assert/strict";
import { test } from "node:test";

import { QUERYABLE_INDEX_PATTERN, toQueryableIndex } from "./queryable-index.ts";

test("numbers, times and texts are worth an index, each as filters compare it", () => {
  const expressions = [
    toQueryableIndex("view:sun_elevation", { type: "number" }),
    toQueryableIndex("eo:cloud_cover", { type: "number" }),
    toQueryableIndex("acquired", { type: "string", format: "date-time" }),
    toQueryableIndex("platform", { type: "string" }),
  ].map((index) => index?.expression);
  assert.deepEqual(expressions, [
    "(num((properties->'view:sun_elevation')))",
    "(cloud)",
    "(moment((properties->'acquired')))",
    `(left(txt((properties->'platform')), 200)) collate "C"`,
  ]);
});

test("lists, true or false, several types, a column of another type and what has an index are not", () => {
  for (const [name, schema] of [
    ["instruments", { type: "array" }],
    ["is_good", { type: "boolean" }],
    ["anything", {}],
    ["mixed", { type: ["string", "number"] }],
    ["id", { type: "string" }],
    ["created", { type: "string" }],
    ["eo:cloud_cover", { type: "string" }],
    ["datetime", { type: "string", format: "date-time" }],
  ] as const) {
    assert.equal(toQueryableIndex(name, schema), undefined, name);
  }
});

test("a name stands for what is indexed, whatever characters it has", () => {
  const [quote, other] = ["it's", "its"].map((name) => toQueryableIndex(name, { type: "number" }));
  assert.equal(quote?.expression, "(num((properties->'it''s')))");
  assert.notEqual(quote.name, other?.name);
  assert.match(`record_0${quote.name}`, QUERYABLE_INDEX_PATTERN);
});
