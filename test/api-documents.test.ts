import assert from "node:assert/strict";
import { test } from "node:test";

import { Validator } from "@seriousme/openapi-schema-validator";

import { OPERATIONS } from "../components/resource-catalogue/api/operations.ts";
import { toOpenApi30 } from "../libs/service/src/openapi-3.0.ts";
import { SERVICE_NAMES, readDocument } from "../tools/reference/openapi.ts";

for (const name of SERVICE_NAMES) {
  test(`the OpenAPI document of the ${name} is valid and says what each request answers`, async () => {
    const document = await readDocument(name);
    const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
    assert.ok(valid, JSON.stringify(errors));
    const earlier = await new Validator().validate({ ...structuredClone(toOpenApi30(document)) });
    assert.ok(earlier.valid, `3.0: ${JSON.stringify(earlier.errors)}`);
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

test("the catalogue describes no route that it does not have", async () => {
  const { paths = {} } = await readDocument("resource-catalogue");
  const served = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
  );
  assert.deepEqual(Object.keys(OPERATIONS).toSorted(), served.toSorted());
});
