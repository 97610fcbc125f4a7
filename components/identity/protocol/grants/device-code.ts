import { pollDevice } from "../../store/device-grants.ts";
import { insertEvent } from "../../store/events.ts";
import { startSession } from "../../store/sessions.ts";
import { findUserWithAccess } from "../../store/users.ts";
import { requireDeviceGrant } from "../device-authorization.ts";
import { type TokenResponse, issueTokens } from "../issue-tokens.ts";
import { OAuthError, invalidGrant } from "../oauth-error.ts";
import type { GrantRequest } from "./grant.ts";
import { secondsOf } from "./password.ts";

export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Device code (RFC 8628 §3.4, §3.5): the device asks until the person in the browser has decided. */
export async function grantByDeviceCode(request: GrantRequest): Promise<TokenResponse> {
  const { context, handle, client, form, boundTo, ip, userAgent } = request;
  const { pool } = context;
  const { realm } = handle;
  requireDeviceGrant(client);
  const poll = await pollDevice(pool, realm.id, client.id, form.require("device_code"));
  switch (poll.kind) {
    case "unknown":
      throw invalidGrant("The device code is unknown, was used before, or belongs to another client");
    case "expired":
      throw new OAuthError(400, "expired_token", "The device code has expired; begin the login again");
    case "too-early":
      throw new OAuthError(400, "slow_down", "Asked too early: wait 5 seconds longer between two requests");
    case "pending":
      throw new OAuthError(400, "authorization_pending", "The person has not decided yet");
    case "denied":
      throw new OAuthError(400, "access_denied", "The person refused the login");
    case "allowed":
      break;
  }
  const account = await findUserWithAccess(pool, realm.id, poll.userId);
  if (account === undefined || !account.user.enabled) {
    throw invalidGrant("The user may not log in any more");
  }
  const { scope, decidedAt: authTime } = poll;
  const offline = scope.split(" ").includes("offline_access");
  const { sessionId, refreshId, chain } = await startSession(
    pool,
    { realmId: realm.id, userId: account.user.id, offline, ip, userAgent },
    { client: client.id, scope, authTime },
    realm.settings,
  );
  if (realm.settings.eventsEnabled) {
    await insertEvent(pool, realm.id, {
      type: "LOGIN",
      userId: account.user.id,
      clientId: client.clientId,
      sessionId,
      ip,
      details: { username: account.user.username, grant: "device_code" },
    });
  }
  const secondsLeft = secondsOf(realm.settings, offline);
  return issueTokens(handle, {
    client,
    ...account,
    boundTo,
    scope,
    session: { id: sessionId, refreshId, chain, secondsLeft, offline, authTime },
  });
}
