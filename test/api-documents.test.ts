import assert from "node:assert/strict";
import { test } from "node:test";

import { Validator } from "@seriousme/openapi-schema-validator";

import { SERVICE_NAMES, readDocument } from "../tools/reference/openapi.ts";

for (const name of SERVICE_NAMES) {
  test(`the OpenAPI document of the ${name} is valid and says what each request answers`, async () => {
    const document = await readDocument(name);
    const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
    assert.ok(valid, JSON.stringify(errors));
    const bare = Object.entries(document.paths ?? {}).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(
          ([, { summary, responses = {} }]) =>
            summary === undefined || responses["200"]?.description === "Default Response",
        )
        .map(([method]) => `${method} ${path}`),
    );
    assert.deepEqual(bare, []);
  });
}
