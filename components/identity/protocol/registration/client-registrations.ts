import { createHmac, hash, randomUUID, timingSafeEqual } from "node:crypto";

import { addClient, changeClient } from "../../admin/client-records.ts";
import { runChange } from "../../admin/request.ts";
import type { IdentityContext } from "../../context.ts";
import type { RealmHandle } from "../../realms/realm-cache.ts";
import { insertMapper } from "../../store/client-scopes.ts";
import { type Client, type ClientSettings, findClient } from "../../store/clients.ts";
import type { Queryable } from "../../store/database.ts";
import { insertAdminEvent } from "../../store/events.ts";
import { UMA_GRANT } from "../../uma/uma-grant.ts";
import { BACK_CHANNEL_SESSION, BACK_CHANNEL_URL } from "../back-channel-logout.ts";
import { AUTH_METHOD, INLINE_KEYS, KEYS_ADDRESS, USES_KEYS_ADDRESS } from "../client-keys.ts";
import { DPOP_REQUIRED } from "../dpop.ts";
import { FRONT_CHANNEL_SESSION, FRONT_CHANNEL_URL } from "../front-channel-logout.ts";
import { OAuthError } from "../oauth-error.ts";
import type { RegistrationRequest } from "./registration-request.ts";

/** Attributes of clients that registered themselves. */
const BY_WHOM = "registered.by";
const NOBODY = "nobody";
const SOFTWARE_ID = "software.id";
const GRANT_TYPES = "grant_types";
const LOGOUT_REDIRECTS = "post.logout.redirect.uris";
/** Clients that nobody vouches for, in all. */
const MAX_UNKNOWN_CLIENTS = 1000;

/** How clients are registered at one address. */
export interface RegistrationRules {
  /** Who may register: everybody, or operators alone. */
  readonly who: "open" | "operators";
  /** What a client that a stranger registered may not do: act for itself. */
  readonly refusedToStrangers: readonly string[];
  /** What each client gets besides what its scopes have. */
  readonly mappers: readonly Parameters<typeof insertMapper>[2][];
}

/** The operator who registers. */
export interface Registrant {
  readonly id: string;
  readonly name: string;
  readonly clientId: string;
  readonly ip: string;
}

export const isRegistered = ({ settings }: Client): boolean => settings.attributes[BY_WHOM] !== undefined;

/** @param registrant left out for somebody without a token. @throws {OAuthError} */
export async function registerClient(
  context: IdentityContext,
  { realm }: RealmHandle,
  rules: RegistrationRules,
  requested: RegistrationRequest,
  registrant: Registrant | undefined,
): Promise<{ readonly client: Client; readonly isNew: boolean }> {
  return runChange(context, async (db) => {
    // One at a time, so that the count holds and a repeated registration finds the first one.
    await db.query("select pg_advisory_xact_lock(hashtext($1))", [`registration ${realm.id}`]);
    const known =
      registrant && requested.softwareId !== undefined && (await findBySoftware(db, realm.id, requested.softwareId));
    if (known) {
      return { client: known, isNew: false };
    }
    if (registrant === undefined && (await countUnknown(db, realm.id)) >= MAX_UNKNOWN_CLIENTS) {
      throw new OAuthError(
        503,
        "temporarily_unavailable",
        "Too many clients have registered; ask an operator to do it",
      );
    }
    const clientId = randomUUID();
    const by = { who: registrant?.id ?? NOBODY, words: registrant ? `by ${registrant.name}` : "by itself" };
    const id = await addClient(db, realm, { clientId, settings: toSettings(rules, requested, clientId, by) });
    for (const mapper of rules.mappers) {
      await insertMapper(db, { kind: "client", id }, mapper);
    }
    if (realm.settings.adminEventsEnabled && registrant !== undefined) {
      await insertAdminEvent(db, realm.id, {
        operation: "CREATE",
        resourceType: "CLIENT",
        resourcePath: `clients/${clientId}`,
        actorId: registrant.id,
        actorName: registrant.name,
        actorClient: registrant.clientId,
        ip: registrant.ip,
      });
    }
    return { client: (await findClient(db, realm.id, clientId)) as Client, isNew: true };
  });
}

/** Replaces what a client registered (RFC 7592 §2.2); what an operator has set besides stays. */
export async function changeRegistration(
  context: IdentityContext,
  { realm }: RealmHandle,
  rules: RegistrationRules,
  client: Client,
  requested: RegistrationRequest,
): Promise<Client> {
  const { attributes, description } = client.settings;
  return runChange(context, async (db) => {
    const settings = toSettings(rules, requested, client.clientId, {
      who: attributes[BY_WHOM] ?? NOBODY,
      words: description.replace(/^Registered /, ""),
    });
    const others = Object.entries(attributes).filter(([name]) => !REGISTERED_ATTRIBUTES.includes(name));
    await changeClient(db, realm, client, {
      settings: { ...settings, attributes: { ...Object.fromEntries(others), ...settings.attributes } },
    });
    return (await findClient(db, realm.id, client.clientId)) as Client;
  });
}

/** Attributes that a registration replaces. */
const REGISTERED_ATTRIBUTES: readonly string[] = [
  AUTH_METHOD,
  BACK_CHANNEL_SESSION,
  BACK_CHANNEL_URL,
  DPOP_REQUIRED,
  FRONT_CHANNEL_SESSION,
  FRONT_CHANNEL_URL,
  GRANT_TYPES,
  INLINE_KEYS,
  KEYS_ADDRESS,
  LOGOUT_REDIRECTS,
  SOFTWARE_ID,
  USES_KEYS_ADDRESS,
];

function toSettings(
  { refusedToStrangers }: RegistrationRules,
  requested: RegistrationRequest,
  clientId: string,
  by: { readonly who: string; readonly words: string },
): Partial<ClientSettings> & Pick<ClientSettings, "attributes"> {
  const isStranger = by.who === NOBODY;
  const may = (grant: string) =>
    requested.grantTypes.includes(grant) && !(isStranger && refusedToStrangers.includes(grant));
  const protects = !isStranger && requested.scopes.includes("uma_protection");
  return {
    name: requested.name === "" ? clientId : requested.name,
    description: `Registered ${by.words}`,
    publicClient: requested.authMethod === "none",
    standardFlowEnabled: may("authorization_code"),
    directAccessGrantsEnabled: may("password"),
    serviceAccountsEnabled: may("client_credentials") || protects,
    authorizationServicesEnabled: protects,
    consentRequired: isStranger,
    redirectUris: requested.redirectUris,
    frontchannelLogout: requested.attributes[FRONT_CHANNEL_URL] !== undefined,
    attributes: {
      ...requested.attributes,
      [BY_WHOM]: by.who,
      [GRANT_TYPES]: requested.grantTypes.filter(may).join(" "),
      ...(requested.softwareId !== undefined && { [SOFTWARE_ID]: requested.softwareId }),
      ...(requested.logoutUris.length > 0 && { [LOGOUT_REDIRECTS]: requested.logoutUris.join("##") }),
    },
  };
}

async function findBySoftware(db: Queryable, realmId: string, softwareId: string): Promise<Client | undefined> {
  const { rows } = await db.query<{ client_id: string }>(
    `select client_id from client where realm_id = $1 and settings -> 'attributes' ->> $2 = $3
       and settings -> 'attributes' ->> $4 <> $5`,
    [realmId, SOFTWARE_ID, softwareId, BY_WHOM, NOBODY],
  );
  return rows[0] && findClient(db, realmId, rows[0].client_id);
}

async function countUnknown(db: Queryable, realmId: string): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    "select count(*) from client where realm_id = $1 and settings -> 'attributes' ->> $2 = $3",
    [realmId, BY_WHOM, NOBODY],
  );
  return Number(rows[0]?.count);
}

/**
 * What the client is told of itself (RFC 7591 §3.2.1): what it got, which may be less than it asked for.
 * @param address where clients are registered
 */
export function describeRegistration(handle: RealmHandle, client: Client, address: string): Record<string, unknown> {
  const { clientId, secret, settings, scopes } = client;
  const { attributes } = settings;
  const grants = (attributes[GRANT_TYPES] ?? "").split(" ").filter((grant) => grant !== "");
  const texts = {
    frontchannel_logout_uri: attributes[FRONT_CHANNEL_URL],
    backchannel_logout_uri: attributes[BACK_CHANNEL_URL],
    jwks_uri: attributes[KEYS_ADDRESS],
    software_id: attributes[SOFTWARE_ID],
  };
  const truths = {
    frontchannel_logout_session_required: attributes[FRONT_CHANNEL_SESSION],
    backchannel_logout_session_required: attributes[BACK_CHANNEL_SESSION],
    dpop_bound_access_tokens: attributes[DPOP_REQUIRED],
  };
  const provided = <T>(fields: Readonly<Record<string, string | undefined>>, read: (text: string) => T) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, text]) => (text === undefined ? [] : [[name, read(text)]])),
    ) as Record<string, T>;
  return {
    client_id: clientId,
    ...(secret !== undefined && !settings.publicClient && { client_secret: secret, client_secret_expires_at: 0 }),
    client_name: settings.name,
    redirect_uris: settings.redirectUris,
    ...(attributes[LOGOUT_REDIRECTS] !== undefined && {
      post_logout_redirect_uris: attributes[LOGOUT_REDIRECTS].split("##"),
    }),
    grant_types: grants,
    response_types: grants.includes("authorization_code") ? ["code"] : [],
    scope: ["openid", ...scopes.map(({ name }) => name)].join(" "),
    token_endpoint_auth_method: attributes[AUTH_METHOD],
    subject_type: "public",
    access_token_as_jwt: true,
    ...provided(texts, (text) => text),
    ...provided(truths, (text) => text === "true"),
    ...provided({ jwks: attributes[INLINE_KEYS] }, (text) => JSON.parse(text) as unknown),
    uma_grant_supported: grants.includes(UMA_GRANT),
    registration_client_uri: `${address}/${clientId}`,
    registration_access_token: managementToken(handle, client),
  };
}

/** Whether a text is the token that a client manages its registration with. */
export function isManagementToken(handle: RealmHandle, client: Client, shown: string): boolean {
  return timingSafeEqual(hash("sha256", shown, "buffer"), hash("sha256", managementToken(handle, client), "buffer"));
}

/** RFC 7592 §3: made of the client's own row, so that nothing more is kept, and another client of that name has another. */
function managementToken({ realm }: RealmHandle, { id, clientId }: Client): string {
  return createHmac("sha256", `registration ${realm.secret}`).update(`${id} ${clientId}`).digest("base64url");
}
