import { hash, timingSafeEqual } from "node:crypto";

import { decodeJwt } from "jose";

import { insertEvent } from "../../store/events.ts";
import { type Issued, noteIssued, takeCode } from "../../store/oidc-adapter.ts";
import { endChain, revokeAccessToken, startSession } from "../../store/sessions.ts";
import { findUserWithAccess } from "../../store/users.ts";
import { grantScope } from "../../claims/scopes.ts";
import { type TokenResponse, issueTokens } from "../issue-tokens.ts";
import { OAuthError, invalidGrant } from "../oauth-error.ts";
import type { GrantRequest } from "./grant.ts";
import { secondsOf } from "./password.ts";

/**
 * Authorization code (RFC 6749 §4.1.3) with PKCE (RFC 7636 §4.6). A code is good once: when it is brought again, the tokens that came of it
 * can be refreshed no more (§4.1.2).
 */
export async function grantByCode(request: GrantRequest): Promise<TokenResponse> {
  const { context, handle, client, form, boundTo, ip, userAgent } = request;
  const { pool } = context;
  const { realm } = handle;
  if (!client.settings.standardFlowEnabled) {
    throw new OAuthError(400, "unauthorized_client", "Client not allowed for the authorization code flow");
  }
  const code = form.require("code");
  const taken = await takeCode(pool, realm.id, code);
  const refuse = async (description: string): Promise<never> => {
    if (realm.settings.eventsEnabled) {
      await insertEvent(pool, realm.id, {
        type: "CODE_TO_TOKEN_ERROR",
        clientId: client.clientId,
        ip,
        error: "invalid_code",
      });
    }
    throw invalidGrant(description);
  };
  if (taken === undefined) {
    return refuse("Code not valid");
  }
  const { payload, fresh } = taken;
  if (!fresh) {
    if (payload.clientId === client.clientId && payload.sessionUid !== undefined) {
      await endIssued(request, payload.sessionUid, payload["issued"] as Issued | undefined);
    }
    return refuse("Code not valid");
  }
  if (payload.clientId !== client.clientId) {
    return refuse("Code was not issued to this client");
  }
  if (payload["redirectUri"] !== form.get("redirect_uri")) {
    return refuse("Incorrect redirect_uri");
  }
  if (!isVerified(payload["codeChallenge"], payload["codeChallengeMethod"], form.get("code_verifier"))) {
    return refuse("PKCE verification failed");
  }
  if (payload["dpopJkt"] !== undefined && payload["dpopJkt"] !== boundTo) {
    return refuse("The code is bound to another key than was shown");
  }
  const account =
    payload.accountId === undefined ? undefined : await findUserWithAccess(pool, realm.id, payload.accountId);
  if (account === undefined || !account.user.enabled || payload.sessionUid === undefined) {
    return refuse("The user may not log in any more");
  }
  const scope = grantScope(client, payload.scope);
  const offline = scope.split(" ").includes("offline_access");
  const authTime = typeof payload["authTime"] === "number" ? new Date(payload["authTime"] * 1000) : new Date();
  const nonce = typeof payload.nonce === "string" ? payload.nonce : undefined;
  const { sessionId, refreshId, chain } = await startSession(
    pool,
    // An offline session outlives the one of the browser, so it is another.
    {
      ...(offline ? {} : { id: payload.sessionUid }),
      realmId: realm.id,
      userId: account.user.id,
      offline,
      ip,
      userAgent,
    },
    { client: client.id, scope, nonce, authTime },
    realm.settings,
  );
  const tokens = await issueTokens(handle, {
    client,
    ...account,
    boundTo,
    scope,
    session: {
      id: sessionId,
      refreshId,
      chain,
      secondsLeft: secondsOf(realm.settings, offline),
      offline,
      authTime,
      nonce,
    },
  });
  const { jti, exp } = decodeJwt(tokens.access_token);
  await noteIssued(pool, realm.id, code, { sessionId, chain, jti, exp });
  return tokens;
}

/** @param issued where nothing was noted, because the service was killed, all that the client has of the session ends */
async function endIssued(
  { context: { pool }, handle: { realm }, client }: GrantRequest,
  sessionUid: string,
  issued: Partial<Issued> = {},
): Promise<void> {
  const { sessionId = sessionUid, chain, jti, exp } = issued;
  await endChain(pool, realm, { sessionId, client: client.id, chain });
  if (jti !== undefined && exp !== undefined) {
    await revokeAccessToken(pool, realm, { jti, exp });
  }
}

/** Without a challenge there must be no verifier (RFC 9700 §2.1.1: no downgrade). */
function isVerified(challenge: unknown, method: unknown, verifier: string | undefined): boolean {
  if (typeof challenge !== "string") {
    return verifier === undefined;
  }
  if (verifier === undefined || method !== "S256" || !/^[A-Za-z0-9\-._~]{43,128}$/.test(verifier)) {
    return false;
  }
  const computed = Buffer.from(hash("sha256", verifier, "base64url"));
  const requested = Buffer.from(challenge);
  return computed.length === requested.length && timingSafeEqual(computed, requested);
}
