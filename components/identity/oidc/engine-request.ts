import type { FastifyReply, FastifyRequest } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";

/** The request as the engine must see it: under its public address, whatever way it came. */
export function toEngineRequest(publicUrl: string, request: FastifyRequest): IncomingMessage {
  const { host, protocol } = new URL(publicUrl);
  Object.assign(request.raw.headers, {
    host,
    "x-forwarded-host": host,
    "x-forwarded-proto": protocol.slice(0, -1),
    "x-forwarded-for": request.ip,
  });
  return request.raw;
}

/** The bare response, which the engine writes itself. */
export function toEngineResponse(reply: FastifyReply): ServerResponse {
  reply.hijack();
  return reply.raw;
}
