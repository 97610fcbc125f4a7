import { insertEvent } from "../../store/events.ts";
import { explainRefusal } from "../../store/refresh-rotation.ts";
import { endChain } from "../../store/sessions.ts";
import { type TokenResponse, issueTokens } from "../issue-tokens.ts";
import { invalidGrant } from "../oauth-error.ts";
import type { GrantRequest } from "./grant.ts";

const DESCRIPTIONS = {
  ended: "Session not active",
  disabled: "User disabled",
  reused: "Maximum allowed refresh token reuse exceeded",
} as const;

/** Refresh (RFC 6749 §6) with rotation: a token that was exchanged before ends its chain, since somebody has a copy (RFC 9700 §4.14.2). */
export async function grantByRefreshToken(request: GrantRequest): Promise<TokenResponse> {
  const { context, handle, client, form, boundTo, ip } = request;
  const { pool, rotation } = context;
  const { realm, refreshTokens } = handle;
  const claims = refreshTokens.read(form.require("refresh_token"));
  if (claims === undefined) {
    throw invalidGrant("Invalid refresh token");
  }
  if (claims.azp !== client.clientId) {
    throw invalidGrant("Invalid refresh token. Token client and authorized client don't match");
  }
  if (claims.cnf !== undefined && claims.cnf.jkt !== boundTo) {
    throw invalidGrant("Invalid refresh token. It is bound to another key than was shown");
  }
  const { sid: sessionId, jti: refreshId, chain } = claims;
  const requested = { sessionId, client: client.id, refreshId, chain };
  const rotated = await rotation.rotate(requested, realm.settings);
  if (rotated === undefined) {
    const reason = await explainRefusal(pool, { sessionId, client: client.id, chain });
    if (reason === "reused") {
      await endChain(pool, realm, { sessionId, client: client.id, chain });
    }
    if (realm.settings.eventsEnabled) {
      await insertEvent(pool, realm.id, {
        type: "REFRESH_TOKEN_ERROR",
        userId: claims.sub,
        clientId: client.clientId,
        sessionId,
        ip,
        error: reason,
      });
    }
    throw invalidGrant(DESCRIPTIONS[reason]);
  }
  const { user, access, offline, authTime, nonce, secondsLeft } = rotated;
  return issueTokens(handle, {
    client,
    user,
    access,
    boundTo,
    scope: narrowScope(rotated.scope, form.get("scope")),
    session: {
      id: sessionId,
      refreshId: rotated.refreshId,
      chain: rotated.chain,
      secondsLeft,
      offline,
      authTime,
      nonce,
    },
  });
}

/** A refresh may ask for less than was granted, never for more (RFC 6749 §6). */
function narrowScope(granted: string, requested: string | undefined): string {
  if (requested === undefined) {
    return granted;
  }
  const wanted = requested.split(" ");
  const kept = granted.split(" ").filter((scope) => wanted.includes(scope) || scope === "offline_access");
  return kept.length === 0 ? granted : kept.join(" ");
}
