import { insertEvent } from "../../store/events.ts";
import { findUserWithAccess } from "../../store/users.ts";
import { grantScope } from "../../claims/scopes.ts";
import { type TokenResponse, issueTokens } from "../issue-tokens.ts";
import { OAuthError } from "../oauth-error.ts";
import type { GrantRequest } from "./grant.ts";

/** A client acting for itself (RFC 6749 §4.4): as its service account, without a refresh token. */
export async function grantByClientCredentials({
  context,
  handle,
  client,
  form,
  boundTo,
  ip,
}: GrantRequest): Promise<TokenResponse> {
  const { realm } = handle;
  if (client.settings.publicClient || !client.settings.serviceAccountsEnabled || client.serviceUserId === undefined) {
    throw new OAuthError(401, "unauthorized_client", "Client not enabled to retrieve service account");
  }
  const account = await findUserWithAccess(context.pool, realm.id, client.serviceUserId);
  if (account === undefined || !account.user.enabled) {
    throw new OAuthError(401, "unauthorized_client", "The service account of the client is disabled");
  }
  if (realm.settings.eventsEnabled) {
    // Services ask often and alike: what matters of it is its latest time, not each one.
    await noteClientLogin({ context, realmId: realm.id, userId: account.user.id, clientId: client.clientId, ip });
  }
  const scope = grantScope(client, form.get("scope"))
    .split(" ")
    .filter((part) => part !== "openid" && part !== "offline_access")
    .join(" ");
  return issueTokens(handle, { client, ...account, boundTo, scope });
}

interface ClientLogin {
  readonly context: GrantRequest["context"];
  readonly realmId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly ip: string;
}

const noted = new WeakMap<GrantRequest["context"], Map<string, number>>();
const NOTE_EVERY = 600_000;

async function noteClientLogin({ context, realmId, userId, clientId, ip }: ClientLogin): Promise<void> {
  const times = noted.get(context) ?? new Map<string, number>();
  noted.set(context, times);
  const now = Date.now();
  if ((times.get(userId) ?? 0) + NOTE_EVERY > now) {
    return;
  }
  times.set(userId, now);
  await insertEvent(context.pool, realmId, { type: "CLIENT_LOGIN", userId, clientId, ip });
}
