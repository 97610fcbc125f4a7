import { UNAVAILABLE_DETAIL, REFUSED_VALUE, isUnavailable, isRefusedByDatabase } from "@swath/service";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

import { OAuthError } from "../protocol/oauth-error.ts";
import { isDuplicate } from "../store/database.ts";

/** An error of the admin API, in the JSON that existing clients read. */
export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const notFound = (what: string): AdminError => new AdminError(404, `${what} not found`);
export const badRequest = (message: string): AdminError => new AdminError(400, message);

export function sendAdminError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  void reply.header("cache-control", "no-store").type("application/json");
  if (error instanceof AdminError) {
    void reply
      .code(error.status)
      .send(
        error.status === 401 || error.status === 403 || error.status === 404
          ? { error: error.message, errorMessage: error.message }
          : { errorMessage: error.message },
      );
    return;
  }
  if (error instanceof OAuthError) {
    // Thrown by what these routes share with the protocol endpoints: the realm, the token.
    void reply.code(error.status).headers(error.headers).send({ error: error.message, errorMessage: error.message });
    return;
  }
  if (error instanceof RangeError) {
    void reply.code(400).send({ errorMessage: error.message });
    return;
  }
  if (isDuplicate(error)) {
    void reply.code(409).send({ errorMessage: "One with this name or id exists already" });
    return;
  }
  if ("validation" in error && error.validation !== undefined) {
    void reply.code(400).send({ errorMessage: error.message });
    return;
  }
  if (isRefusedByDatabase(error)) {
    void reply.code(400).send({ errorMessage: REFUSED_VALUE });
    return;
  }
  if (isUnavailable(error)) {
    request.log.error({ err: error }, "request failed");
    void reply.code(503).header("retry-after", "1").send({ errorMessage: UNAVAILABLE_DETAIL });
    return;
  }
  const status = "statusCode" in error ? (error.statusCode ?? 500) : 500;
  if (status >= 500) {
    request.log.error({ err: error }, "request failed");
    void reply.code(500).send({ error: "unknown_error", error_description: `See the service's log, ${request.id}.` });
    return;
  }
  void reply.code(status).send({ errorMessage: error.message });
}
