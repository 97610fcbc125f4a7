import type { FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { insertEvent } from "../store/events.ts";
import { endSession, revokeAccessToken } from "../store/sessions.ts";
import { authenticateClient } from "./client-authentication.ts";
import { readForm } from "./form.ts";
import { OAuthError } from "./oauth-error.ts";

/**
 * `POST …/revoke` (RFC 7009 §2). A refresh token ends with its session and so with every access token of it; an access token
 * ends alone. What is no token, or expired, is answered like one that was revoked (§2.2).
 */
export async function handleRevocation(
  { pool }: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { realm, issuer, keys } = handle;
  const form = readForm(request);
  const client = await authenticateClient(handle, request.headers.authorization, form);
  const token = form.require("token");
  const refuseOthers = (azp: unknown) => {
    if (azp !== client.clientId) {
      throw new OAuthError(400, "invalid_token", "The token was issued to another client");
    }
  };
  const refresh = handle.refreshTokens.read(token);
  if (refresh !== undefined) {
    refuseOthers(refresh.azp);
    await endSession(pool, { id: realm.id, name: realm.name }, refresh.sid);
    await insertEvent(pool, realm.id, {
      type: "REVOKE_GRANT",
      userId: refresh.sub,
      clientId: client.clientId,
      sessionId: refresh.sid,
      ip: request.ip,
    });
    return reply.code(200).send();
  }
  const claims = await keys.verify(token);
  const { exp, jti, azp } = claims ?? {};
  if (typeof exp === "number" && typeof jti === "string" && claims?.["iss"] === issuer) {
    refuseOthers(azp);
    if (exp > Date.now() / 1000) {
      await revokeAccessToken(pool, realm, { jti, exp });
    }
  }
  return reply.code(200).send();
}
