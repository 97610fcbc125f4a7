import { UNAVAILABLE_DETAIL, REFUSED_VALUE, isUnavailable, isRefusedByDatabase } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

import { AdminError } from "../admin/errors.ts";
import { SECURITY_HEADERS } from "../oidc/provider.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { renderErrorPage } from "./error-page.ts";

/** The error handler of pages: what a person reads, with the request's id where the log knows more. */
export function sendErrorPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = findKnown(error);
  if (known === undefined) {
    request.log.error({ err: error }, "request failed");
  }
  return reply
    .code(known?.status ?? (isUnavailable(error) ? 503 : 500))
    .headers(SECURITY_HEADERS)
    .type("text/html; charset=utf-8")
    .send(
      renderErrorPage({
        title: known?.status === 404 ? "Not found" : "Something went wrong",
        message:
          known?.message ?? (isUnavailable(error) ? UNAVAILABLE_DETAIL : "The service failed to handle this request."),
        requestId: known === undefined ? request.id : undefined,
      }),
    );
}

/** What a person may be told of an error: those of our own, and mistakes of the request itself. */
function findKnown(error: unknown): { readonly status: number; readonly message: string } | undefined {
  if (error instanceof AdminError || error instanceof OAuthError) {
    return error;
  }
  if (isRefusedByDatabase(error)) {
    return { status: 400, message: REFUSED_VALUE };
  }
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  return status >= 400 && status < 500 ? { status, message: (error as Error).message } : undefined;
}
