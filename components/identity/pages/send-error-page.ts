import { AWAY, isAway } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

import { AdminError } from "../admin/errors.ts";
import { SECURITY_HEADERS } from "../oidc/provider.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { renderErrorPage } from "./error-page.ts";

/** The error handler of pages: what a person reads, with the request's id where the log knows more. */
export function sendErrorPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = error instanceof AdminError || error instanceof OAuthError ? error : undefined;
  if (known === undefined) {
    request.log.error({ err: error }, "request failed");
  }
  return reply
    .code(known?.status ?? (isAway(error) ? 503 : 500))
    .headers(SECURITY_HEADERS)
    .type("text/html; charset=utf-8")
    .send(
      renderErrorPage({
        title: known?.status === 404 ? "Not found" : "Something went wrong",
        message: known?.message ?? (isAway(error) ? AWAY : "The service failed to handle this request."),
        requestId: known === undefined ? request.id : undefined,
      }),
    );
}
