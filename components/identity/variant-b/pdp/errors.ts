import { Problem, UNAVAILABLE_DETAIL, REFUSED_VALUE, isUnavailable, isRefusedByDatabase } from "@swath/service";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

import { OAuthError } from "../../protocol/oauth-error.ts";
import { isDuplicate } from "../../store/database.ts";

/** An error of the decision point: known clients read the header `Error`. */
export class PdpError extends Error {
  override readonly name = "PdpError";
  readonly status: number;
  readonly short: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, short: string, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.status = status;
    this.short = short;
    this.headers = headers;
  }
}

export function sendPdpError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = toKnown(error);
  if (known.status >= 500) {
    request.log.error({ err: error }, "request failed");
  }
  void reply
    .code(known.status)
    .headers({ ...known.headers, error: known.short, "cache-control": "no-store" })
    .type("application/json")
    .send(JSON.stringify({ error: known.short, detail: known.message }));
}

function toKnown(error: FastifyError | Error): PdpError {
  if (error instanceof PdpError) {
    return error;
  }
  if (error instanceof OAuthError) {
    return new PdpError(error.status, error.code, error.message);
  }
  if (error instanceof Problem) {
    return new PdpError(
      error.status,
      error.status === 429 ? "too many requests" : "unavailable",
      error.message,
      error.headers,
    );
  }
  if (isDuplicate(error)) {
    return new PdpError(422, "already registered", "One with this name is registered already");
  }
  if (isRefusedByDatabase(error)) {
    return new PdpError(400, "invalid request", REFUSED_VALUE);
  }
  if (isUnavailable(error)) {
    return new PdpError(503, "unavailable", UNAVAILABLE_DETAIL);
  }
  const status = "statusCode" in error ? (error.statusCode ?? 500) : 500;
  return status >= 500
    ? new PdpError(500, "internal error", "The service failed to handle this request; its log has the cause")
    : new PdpError(status, "invalid request", error.message);
}
