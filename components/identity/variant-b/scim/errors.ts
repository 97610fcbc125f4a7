import { UNAVAILABLE_DETAIL, REFUSED_VALUE, isUnavailable, isRefusedByDatabase } from "@swath/service";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

import { AdminError } from "../../admin/errors.ts";
import { OAuthError } from "../../protocol/oauth-error.ts";

const ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error";

/** An error of SCIM (RFC 7644 §3.12). */
export class ScimError extends Error {
  override readonly name = "ScimError";
  readonly status: number;
  readonly scimType: string | undefined;

  constructor(status: number, message: string, scimType?: string) {
    super(message);
    this.status = status;
    this.scimType = scimType;
  }
}

export const invalidValue = (message: string): ScimError => new ScimError(400, message, "invalidValue");

export function toScimError({ status, message, scimType }: ScimError): object {
  return { schemas: [ERROR_SCHEMA], status: String(status), ...(scimType && { scimType }), detail: message };
}

export function sendScimError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = toKnown(error);
  if (known.status >= 500) {
    request.log.error({ err: error }, "request failed");
  }
  void reply
    .code(known.status)
    .headers({
      "cache-control": "no-store",
      ...(known.status === 401 && { "www-authenticate": 'Bearer realm="scim"' }),
      ...(known.status === 503 && { "retry-after": "1" }),
    })
    .type("application/scim+json")
    .send(JSON.stringify(toScimError(known)));
}

function toKnown(error: FastifyError | Error): ScimError {
  if (error instanceof ScimError) {
    return error;
  }
  if (error instanceof AdminError || error instanceof OAuthError) {
    return new ScimError(error.status, error.message);
  }
  if (isRefusedByDatabase(error)) {
    return invalidValue(REFUSED_VALUE);
  }
  if (isUnavailable(error)) {
    return new ScimError(503, UNAVAILABLE_DETAIL);
  }
  const status = "statusCode" in error ? (error.statusCode ?? 500) : 500;
  return status >= 500
    ? new ScimError(500, "The service failed to handle this request; its log has the cause")
    : new ScimError(status, error.message, "invalidSyntax");
}
