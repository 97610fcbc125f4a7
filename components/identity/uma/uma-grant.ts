import { identityOf } from "@swath/auth";

import type { IdentityContext } from "../context.ts";
import { checkAccessToken } from "../protocol/access-token.ts";
import { authenticateClient } from "../protocol/client-authentication.ts";
import type { ShownToken } from "../protocol/dpop.ts";
import type { Form } from "../protocol/form.ts";
import { issueTokens } from "../protocol/issue-tokens.ts";
import { OAuthError, invalidRequest } from "../protocol/oauth-error.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import type { Client } from "../store/clients.ts";
import { evaluatePermissions } from "./evaluate-permissions.ts";
import { takeTicket } from "./ticket.ts";

export const UMA_GRANT = "urn:ietf:params:oauth:grant-type:uma-ticket";

/** Permissions that one request may ask for. */
const MAX_PERMISSIONS = 100;

/**
 * A requesting party token (UMA 2.0 Grant §3.3): which resources of the audience its holder may use. With
 * `response_mode=decision` only whether all of what was asked for is granted, with `permissions` only the list.
 */
export async function grantByUmaTicket(
  context: IdentityContext,
  handle: RealmHandle,
  form: Form,
  shown: ShownToken | undefined,
): Promise<unknown> {
  const token = shown?.token ?? form.get("claim_token") ?? form.get("subject_token");
  if (token === undefined) {
    throw new OAuthError(401, "invalid_grant", "Send the access token of the user as Authorization: Bearer");
  }
  const bearer = await checkAccessToken(context, handle, token, {
    acceptIdTokens: context.login !== undefined,
    boundTo: shown?.boundTo,
  });
  if (bearer === undefined) {
    throw new OAuthError(401, "invalid_grant", "Invalid bearer token");
  }
  const ticketText = form.get("ticket");
  const ticket = ticketText === undefined ? undefined : await takeTicket(handle, ticketText);
  if (ticketText !== undefined && ticket === undefined) {
    throw new OAuthError(400, "invalid_ticket", "The permission ticket is invalid, has expired, or was used before");
  }
  const audienceId = ticket?.audience ?? form.get("audience");
  const azp = typeof bearer.claims["azp"] === "string" ? bearer.claims["azp"] : "";
  const audience = await findAudience(handle, audienceId ?? azp);
  const requested = form.all("permission");
  if (requested.length > MAX_PERMISSIONS) {
    throw invalidRequest(`permission comes ${requested.length} times; allowed: ${MAX_PERMISSIONS}`);
  }
  const permissions = ticket?.permissions ?? requested;

  const granted = await evaluatePermissions(context, handle, {
    audience,
    // Roles and groups as they are now; claims of the token for policies that look at them.
    identity: identityOf({
      ...bearer.claims,
      realm_access: { roles: bearer.access.realm },
      resource_access: Object.fromEntries(
        Object.entries(bearer.access.clients).map(([client, roles]) => [client, { roles }]),
      ),
      groups: bearer.access.groups,
    }),
    permissions,
    byUri: form.get("permission_resource_format") === "uri",
  });
  if (granted.length === 0 || (permissions.length > 0 && granted.length < permissions.length)) {
    throw new OAuthError(403, "access_denied", "not_authorized");
  }
  switch (form.get("response_mode")) {
    case "decision":
      return { result: true };
    case "permissions":
      return granted;
    case undefined:
      break;
    default:
      throw invalidRequest("response_mode must be decision or permissions");
  }
  const client =
    form.get("client_id") === undefined
      ? await findAudience(handle, azp)
      : await authenticateClient(handle, undefined, form);
  const response = await issueTokens(handle, {
    client,
    user: bearer.user,
    access: bearer.access,
    // What comes of a bound token is bound to the same key.
    boundTo: shown?.boundTo,
    scope: typeof bearer.claims["scope"] === "string" ? bearer.claims["scope"] : "",
    audience: [audience.clientId],
    claims: {
      ...(typeof bearer.claims["sid"] === "string" && {
        sid: bearer.claims["sid"],
        session_state: bearer.claims["sid"],
      }),
      authorization: { permissions: granted },
    },
  });
  return { ...response, upgraded: false };
}

async function findAudience({ findClient }: RealmHandle, clientId: string): Promise<Client> {
  const client = await findClient(clientId);
  if (client === undefined) {
    throw new OAuthError(400, "invalid_request", `Invalid audience: there is no client ${clientId}`);
  }
  if (!client.settings.enabled) {
    throw new OAuthError(400, "invalid_request", `Client ${clientId} is disabled`);
  }
  return client;
}
