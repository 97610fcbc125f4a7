import type { FastifyReply, FastifyRequest } from "fastify";

const OPENAPI_TYPE = "application/vnd.oai.openapi+json;version=3.1";

/** Sends the OpenAPI document, as plain JSON to clients that do not accept its own type: GDAL before 3.9 reads version 3.0 and JSON alone. */
export function sendOpenApi(request: FastifyRequest, reply: FastifyReply, document: unknown): FastifyReply {
  const accept = request.headers.accept ?? "*/*";
  const wantsJson = /\bapplication\/json\b/.test(accept) && !/\*\/\*|version="?3\.1\b/.test(accept);
  return reply.header("content-type", wantsJson ? "application/json" : OPENAPI_TYPE).send(JSON.stringify(document));
}
