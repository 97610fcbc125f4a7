import { authenticateUser } from "../../login/authenticate-user.ts";
import { findWait } from "../../login/limits.ts";
import { findSecondFactorNeed, proveSecondFactor } from "../../login/second-factor.ts";
import { insertEvent } from "../../store/events.ts";
import { startSession } from "../../store/sessions.ts";
import type { User, UserAccess } from "../../store/users.ts";
import { grantScope } from "../../claims/scopes.ts";
import { type TokenResponse, issueTokens } from "../issue-tokens.ts";
import { OAuthError, invalidGrant } from "../oauth-error.ts";
import type { GrantRequest } from "./grant.ts";

/** Resource owner password credentials (RFC 6749 §4.3). */
export async function grantByPassword(request: GrantRequest): Promise<TokenResponse> {
  const { context, handle, client, form, boundTo, ip, userAgent } = request;
  const { realm } = handle;
  if (!client.settings.directAccessGrantsEnabled) {
    throw new OAuthError(400, "unauthorized_client", "Client not allowed for direct access grants");
  }
  if (client.settings.consentRequired) {
    // Nobody is asked here. RFC 6749 §4.3 is for clients that people have reason to trust with their password.
    throw new OAuthError(
      400,
      "unauthorized_client",
      "People agree to logins with this client, so they log in with a browser",
    );
  }
  const username = form.require("username");
  const result = await authenticateUser(context, handle, {
    username,
    password: form.get("password") ?? "",
    clientId: client.clientId,
    ip,
  });
  switch (result.kind) {
    case "wrong":
      throw invalidGrant("Invalid user credentials", 401);
    case "disabled":
      throw invalidGrant("Account disabled");
    case "locked":
      throw tooMany(result.until);
    case "in":
      break;
  }
  if (result.mustChangePassword) {
    throw invalidGrant("Account is not fully set up: log in with a browser to choose a password");
  }
  const { user, access } = result;
  await proveFactor(request, user, access);
  const scope = grantScope(client, form.get("scope"));
  const offline = scope.split(" ").includes("offline_access");
  const { sessionId, refreshId, chain } = await startSession(
    context.pool,
    { realmId: realm.id, userId: user.id, offline, ip, userAgent },
    { client: client.id, scope },
    realm.settings,
  );
  if (realm.settings.eventsEnabled) {
    await insertEvent(context.pool, realm.id, {
      type: "LOGIN",
      userId: user.id,
      clientId: client.clientId,
      sessionId,
      ip,
      details: { username: user.username, grant: "password" },
    });
  }
  return issueTokens(handle, {
    client,
    user,
    access,
    boundTo,
    scope,
    session: {
      id: sessionId,
      refreshId,
      chain,
      secondsLeft: secondsOf(realm.settings, offline),
      offline,
      authTime: new Date(),
    },
  });
}

/** The field `totp` has the code of a user with a second factor: a one-time code or a recovery code. */
async function proveFactor({ context, handle, client, form, ip }: GrantRequest, user: User, access: UserAccess) {
  switch (findSecondFactorNeed(handle, user, access)) {
    case "none":
      return;
    case "set-up":
      throw invalidGrant("Account is not fully set up: log in with a browser to set up one-time codes");
    case "code":
      break;
  }
  const code = form.get("totp");
  if (code === undefined) {
    throw invalidGrant("A one-time code is needed: send it in the field totp", 401);
  }
  switch (await proveSecondFactor(context, handle, { user, code, clientId: client.clientId, ip })) {
    case "right":
      return;
    case "wrong":
      throw invalidGrant("The one-time code is wrong, or was used before", 401);
    case "locked":
      throw tooMany(await findWait(context.pool, handle.realm, { username: user.username, ip }));
  }
}

/** Existing clients expect 401; `Retry-After` says in seconds when another try is looked at. */
function tooMany(until: Date | undefined): OAuthError {
  const seconds = Math.max(1, Math.ceil(((until?.getTime() ?? 0) - Date.now()) / 1000));
  return new OAuthError(401, "invalid_grant", "Too many failed logins; wait before trying again", {
    "retry-after": String(seconds),
  });
}

/** Seconds that a session which has just begun lasts when nobody uses it. */
export function secondsOf(
  settings: {
    readonly ssoSessionIdleTimeout: number;
    readonly ssoSessionMaxLifespan: number;
    readonly offlineSessionIdleTimeout: number;
  },
  offline: boolean,
): number {
  return offline
    ? settings.offlineSessionIdleTimeout
    : Math.min(settings.ssoSessionIdleTimeout, settings.ssoSessionMaxLifespan);
}
