import { Problem, UNAVAILABLE_DETAIL, REFUSED_VALUE, isUnavailable, isRefusedByDatabase } from "@swath/service";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { OAuthError } from "./oauth-error.ts";

/** @throws {OAuthError} 404 for a realm that does not exist, 403 for one that is disabled */
export async function findRealmOr404({ realms }: IdentityContext, name: string): Promise<RealmHandle> {
  const handle = /^[A-Za-z0-9_.-]{1,64}$/.test(name) ? await realms.find(name) : undefined;
  if (handle === undefined) {
    throw new OAuthError(404, "realm_not_found", "Realm does not exist");
  }
  if (!handle.realm.enabled) {
    throw new OAuthError(403, "access_denied", "Realm not enabled");
  }
  return handle;
}

/** Errors of protocol endpoints in the form of OAuth 2.0; what is not foreseen is a `server_error` without its message. */
export function sendOAuthError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  void reply.headers({ "cache-control": "no-store", pragma: "no-cache" });
  if (error instanceof OAuthError) {
    void reply
      .code(error.status)
      .headers(error.headers)
      .type("application/json")
      .send({ error: error.code, error_description: error.message });
    return;
  }
  if (error instanceof Problem) {
    void reply
      .code(error.status)
      .headers(error.headers)
      .type("application/json")
      .send({ error: "temporarily_unavailable", error_description: error.message });
    return;
  }
  if (isRefusedByDatabase(error)) {
    void reply.code(400).type("application/json").send({ error: "invalid_request", error_description: REFUSED_VALUE });
    return;
  }
  if (isUnavailable(error)) {
    request.log.error({ err: error }, "request failed");
    void reply
      .code(503)
      .header("retry-after", "1")
      .type("application/json")
      .send({ error: "temporarily_unavailable", error_description: UNAVAILABLE_DETAIL });
    return;
  }
  const status = "statusCode" in error ? (error.statusCode ?? 500) : 500;
  if (status >= 500) {
    request.log.error({ err: error }, "request failed");
    void reply
      .code(500)
      .type("application/json")
      .send({
        error: "server_error",
        error_description: `The service failed to handle this request; its log has the cause under ${request.id}.`,
      });
    return;
  }
  void reply.code(status).type("application/json").send({ error: "invalid_request", error_description: error.message });
}
