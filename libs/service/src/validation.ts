import { Ajv, type Options } from "ajv";
import addFormats from "ajv-formats";
import type { FastifySchemaCompiler } from "fastify";

/** Every mistake is reported, nothing that was sent is dropped silently. Bodies are bounded, so this costs little. */
const COMMON: Options = { allErrors: true, useDefaults: true, removeAdditional: false, strict: false };

/**
 * Checks requests against their schemas. Query, path and headers are texts and are read as what the schema says; a body is
 * JSON and is taken as it is: 0 is no null, "1" no number.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  const ofText = new Ajv({ ...COMMON, coerceTypes: "array" });
  const ofJson = new Ajv({ ...COMMON, coerceTypes: false });
  addFormats.default(ofText);
  addFormats.default(ofJson);
  return ({ schema, httpPart }) => (httpPart === "body" ? ofJson : ofText).compile(schema);
}
