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
  return ({ schema, httpPart }) => {
    const bounded = boundIntegers(schema) as object;
    return httpPart === "body" ? compileForBodies(bounded, firstOfJson, ofJson) : ofText.compile(bounded);
  };
}

/** Keywords whose values are no schemas. */
const DATA = new Set(["const", "default", "enum", "examples"]);

/**
 * Integers of a schema that says no limits have those up to which numbers are exact: JSON may have larger ones, which are others once they
 * are read, and which databases give back as errors.
 */
function boundIntegers(schema: unknown): unknown {
  if (Array.isArray(schema)) {
    return schema.map(boundIntegers);
  }
  if (typeof schema !== "object" || schema === null) {
    return schema;
  }
  const { type } = schema as { readonly type?: unknown };
  const isInteger = type === "integer" || (Array.isArray(type) && type.includes("integer") && !type.includes("number"));
  return {
    ...(isInteger && { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    ...Object.fromEntries(
      Object.entries(schema).map(([name, value]) => [name, DATA.has(name) ? (value as unknown) : boundIntegers(value)]),
    ),
  };
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
