import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";

import { toOpenApi30 } from "./openapi-3.0.ts";

export type OpenApiVersion = "3.0" | "3.1";

/** The media type of an OpenAPI document (OGC 17-069r4 /req/oas30/oas-definition-1). */
export const openApiType = (version: OpenApiVersion): string => `application/vnd.oai.openapi+json;version=${version}`;

const PLAIN_JSON = "application/json";

/**
 * Sends an OpenAPI 3.1 document in the version that the client accepts: 3.0 where it does not matter, which all generators read, and as
 * plain JSON to clients that know no media type of OpenAPI.
 * @param version what the client asked for otherwise
 */
export function sendOpenApi(
  request: FastifyRequest,
  reply: FastifyReply,
  document: object,
  version?: OpenApiVersion,
): FastifyReply {
  const types = [openApiType("3.0"), openApiType("3.1"), PLAIN_JSON];
  const type = version === undefined ? (new Negotiator(request).mediaType(types) ?? types[0]) : openApiType(version);
  const body = type === openApiType("3.1") ? document : toOpenApi30(document);
  // As bytes: of a text the framework would rewrite the media type, whose exact words are the standard's.
  return reply
    .header("vary", "accept")
    .type(type as string)
    .send(Buffer.from(JSON.stringify(body)));
}
