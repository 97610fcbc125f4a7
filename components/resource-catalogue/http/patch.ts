import type { FastifyRequest } from "fastify";

import { applyJsonPatch } from "./json-patch.ts";
import { type JsonBody, requireObject } from "./json-body.ts";
import { mergePatch } from "./merge-patch.ts";

/**
 * What a request changes in a document: a JSON Patch by its content type, a JSON Merge Patch otherwise.
 * @throws {Problem} 400 for a body that is none
 */
export function readPatch(request: FastifyRequest): (document: unknown) => unknown {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json-patch+json") {
    const { value } = request.body as JsonBody;
    return (document) => applyJsonPatch(document, value);
  }
  const { value } = requireObject(request.body);
  return (document) => mergePatch(document, value);
}
