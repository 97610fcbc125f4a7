import assert from "node:assert/strict";
import { test } from "node:test";

import { createAnswerCheck } from "./check-answers.ts";

const schema = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
const responses = { 200: { content: { "application/json": { schema } } }, 204: {} };
const check = createAnswerCheck({
  paths: { "/{client}/{id}": { get: { responses: { 200: {} } } }, "/things/{id}": { get: { responses } } },
});

test("answers that a document does not promise are found", () => {
  check("GET", "/things/1?full=true", 200, { name: "one", more: 1 });
  check("GET", "/things/1", 204, undefined);
  check("POST", "/things/1", 500, undefined);
  assert.throws(() => check("GET", "/things/1", 200, { name: 1 }), /unlike its document: data\/name must be string/);
  assert.throws(() => check("GET", "/things/1", 418, {}), /GET \/things\/\{id\} answered 418, which/);
});
