import type { FastifyRequest } from "fastify";

import { JSON_LIMITS, JsonLimitError, parseJson } from "./parse-json.ts";
import type { JsonLimits } from "./scan-json.ts";

type JsonBodyParser = (request: FastifyRequest, body: Buffer | string) => Promise<unknown>;

/**
 * A parser of JSON bodies for `addContentTypeParser` with `parseAs: "buffer"`. It refuses what is too deep (400) or has too many values (413)
 * before it builds anything, and stalls nobody. Errors have the codes of Fastify's own parser.
 */
export function createJsonBodyParser(limits: JsonLimits = JSON_LIMITS): JsonBodyParser {
  return async (_request, body) => {
    // Clients in Go name the type of every request, also of those without a body. Whether there must be one says the route's schema.
    if (body.length === 0) {
      return undefined;
    }
    try {
      return await parseJson(Buffer.isBuffer(body) ? body : Buffer.from(body), limits);
    } catch (error) {
      throw toBodyError(error);
    }
  };
}

function toBodyError(error: unknown): unknown {
  if (error instanceof JsonLimitError) {
    const isTooDeep = error.limit === "depth";
    return bodyError(isTooDeep ? 400 : 413, "FST_ERR_CTP_JSON_LIMIT", `The body is refused: ${error.message}.`);
  }
  if (error instanceof SyntaxError) {
    const detail = error.message.slice(0, 200);
    return bodyError(400, "FST_ERR_CTP_INVALID_JSON_BODY", `The body is not valid JSON: ${detail}.`);
  }
  return error;
}

function bodyError(statusCode: number, code: string, message: string): Error {
  return Object.assign(new Error(message), { statusCode, code });
}
