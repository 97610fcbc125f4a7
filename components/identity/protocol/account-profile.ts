import { readBearerToken } from "@swath/auth";
import type { FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { checkAccessToken } from "./access-token.ts";
import { corsHeaders } from "./cors.ts";

/** Whether a program asks for the profile rather than a browser for the page. */
export function asksForProfile({ headers }: FastifyRequest): boolean {
  return /\bapplication\/json\b/i.test(headers.accept ?? "");
}

/**
 * `GET /realms/{realm}/account` as JSON: the profile of the token's user, which browser adapters load. Only a bearer token
 * counts here, never the cookie of the page at the same address, since other hosts may read the answer.
 */
export async function handleProfile(
  context: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  void reply.headers({ ...corsHeaders(request.headers.origin), "cache-control": "no-store" }).type("application/json");
  const token = readBearerToken(request.headers.authorization) ?? "";
  const bearer = await checkAccessToken(context, handle, token);
  if (bearer === undefined) {
    return reply
      .code(401)
      .header("www-authenticate", `Bearer realm="${handle.realm.name}"`)
      .send({ error: "invalid_token", error_description: "Send a good access token as Authorization: Bearer" });
  }
  const { id, username, firstName, lastName, email, emailVerified, attributes } = bearer.user;
  return { id, username, firstName, lastName, email, emailVerified, attributes };
}
