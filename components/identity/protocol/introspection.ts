import type { FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { isSessionActive } from "../store/sessions.ts";
import { checkAccessToken } from "./access-token.ts";
import { authenticateConfidentialClient } from "./client-authentication.ts";
import { readForm } from "./form.ts";

/** `POST …/token/introspect` (RFC 7662 §2). A token that is not good is `{"active": false}` and nothing more (§2.2). */
export async function handleIntrospection(
  context: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
): Promise<object> {
  const form = readForm(request);
  await authenticateConfidentialClient(handle, request.headers.authorization, form);
  const token = form.require("token");
  const bearer = await checkAccessToken(context, handle, token, {
    acceptIdTokens: context.login !== undefined,
    anyHolder: true,
  });
  if (bearer !== undefined) {
    const { claims, user } = bearer;
    return {
      ...claims,
      active: true,
      username: user.username,
      client_id: claims["azp"],
      token_type: claims["cnf"] === undefined ? "Bearer" : "DPoP",
    };
  }
  const refresh = handle.refreshTokens.read(token);
  if (refresh !== undefined && refresh.exp > Date.now() / 1000 && (await isSessionActive(context.pool, refresh.sid))) {
    const { iss, sub, azp, scope, exp, iat, jti, sid } = refresh;
    return { active: true, iss, sub, azp, client_id: azp, scope, exp, iat, jti, sid, token_type: "Refresh" };
  }
  return { active: false };
}
