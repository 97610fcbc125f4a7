import { Ajv, type Options, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { FastifySchemaCompiler } from "fastify";

import { factsOf } from "./parse-json.ts";

/**
 * Every mistake is reported, nothing that was sent is dropped silently. The schemas themselves are typed, and a test checks them in
 * the OpenAPI documents: compiling the schema of schemas took three quarters of what all schemas cost a start.
 */
const COMMON: Options = {
  allErrors: true,
  useDefaults: true,
  removeAdditional: false,
  strict: false,
  validateSchema: false,
};
/** No schema compares dates (`formatMinimum`), and these keywords compile schemas of their own. */
const FORMATS = { keywords: false };
/** Values of a body of which every mistake is reported; of a larger one, the first. A list of 100,000 mistakes helps nobody. */
const MAX_VALUES = 2000;

/**
 * Checks requests against their schemas. Query, path and headers are texts and are read as what the schema says; a body is
 * JSON and is taken as it is: 0 is no null, "1" no number.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  const ofText = new Ajv({ ...COMMON, coerceTypes: "array" });
  const ofJson = new Ajv({ ...COMMON, coerceTypes: false });
  const firstOfJson = new Ajv({ ...COMMON, allErrors: false, coerceTypes: false });
  addFormats.default(ofText, FORMATS);
  addFormats.default(ofJson, FORMATS);
  addFormats.default(firstOfJson, FORMATS);
  return ({ schema, httpPart }) =>
    httpPart === "body" ? compileForBodies(schema, firstOfJson, ofJson) : ofText.compile(schema);
}

/** Finds every mistake of small bodies, and stops at the first of large ones. */
function compileForBodies(schema: object, first: Ajv, all: Ajv): (body: unknown) => boolean {
  const isValid = first.compile(schema);
  // Most bodies are valid: what lists every mistake is compiled when it is needed.
  let findAll: ValidateFunction | undefined;
  const validate = Object.assign(
    (body: unknown): boolean => {
      validate.errors = null;
      if (isValid(body)) {
        return true;
      }
      validate.errors = isValid.errors;
      if ((factsOf(body)?.values ?? 0) <= MAX_VALUES) {
        findAll ??= all.compile(schema);
        findAll(body);
        validate.errors = findAll.errors ?? isValid.errors;
      }
      return false;
    },
    { errors: null as ValidateFunction["errors"] },
  );
  return validate;
}
