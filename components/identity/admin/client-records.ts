import { randomBytes } from "node:crypto";

import { announceRules } from "../store/resource-servers.ts";
import { addResourceServer, removeResourceServer } from "../store/resource-servers.ts";
import { putPolicy } from "../store/authz-policies.ts";
import { insertResource } from "../store/authz-resources.ts";
import { publishChange } from "../store/changes.ts";
import { assignFirstScopes } from "../store/client-scopes.ts";
import {
  type Client,
  type ClientSettings,
  DEFAULT_CLIENT_SETTINGS,
  OTHER_SECRET,
  findClientById,
  insertClient,
  updateClient,
} from "../store/clients.ts";
import type { Queryable } from "../store/database.ts";
import type { Realm } from "../store/realms.ts";
import { deleteUser, insertUser } from "../store/users.ts";
import { badRequest } from "./errors.ts";
import { toMapperRepresentation } from "./mapper-records.ts";
import { readBoolean, readText, readTextRecord, readTexts } from "./request.ts";

/** A client as the admin API writes and reads it. */
export function toClientRepresentation({
  id,
  clientId,
  secret,
  settings,
  scopes,
  mappers,
}: Client): Record<string, unknown> {
  const { [OTHER_SECRET]: _secret, ...attributes } = settings.attributes;
  return {
    id,
    clientId,
    ...settings,
    attributes,
    ...(settings.publicClient || secret === undefined ? {} : { secret }),
    clientAuthenticatorType: "client-secret",
    surrogateAuthRequired: false,
    alwaysDisplayInConsole: false,
    notBefore: 0,
    ...(mappers.length > 0 && { protocolMappers: mappers.map(toMapperRepresentation) }),
    defaultClientScopes: scopes.filter(({ optional }) => !optional).map(({ name }) => name),
    optionalClientScopes: scopes.filter(({ optional }) => optional).map(({ name }) => name),
  };
}

export interface ClientFields {
  readonly id?: string | undefined;
  readonly clientId?: string | undefined;
  readonly secret?: string | undefined;
  readonly settings: Partial<ClientSettings>;
  /** Of a new client, where it is not to have those of the realm. */
  readonly scopes?: { readonly defaults?: readonly string[]; readonly optionals?: readonly string[] };
}

/** Reads the fields of a representation that we know; others are let through unread, as existing clients send many. */
export function readClient(body: Readonly<Record<string, unknown>>): ClientFields {
  const settings: Record<string, unknown> = {};
  for (const [name, fallback] of Object.entries(DEFAULT_CLIENT_SETTINGS)) {
    const value =
      typeof fallback === "boolean"
        ? readBoolean(body, name)
        : Array.isArray(fallback)
          ? readTexts(body, name)
          : typeof fallback === "string"
            ? readText(body, name, 2048)
            : readTextRecord(body[name], name);
    if (value !== undefined) {
      settings[name] = value;
    }
  }
  if (settings["protocol"] !== undefined && settings["protocol"] !== "openid-connect") {
    throw badRequest(`protocol is ${JSON.stringify(settings["protocol"])}; allowed: openid-connect`);
  }
  const clientId = readText(body, "clientId");
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (clientId !== undefined && !/^[^\u0000-\u0020\u007f]{1,255}$/u.test(clientId)) {
    throw badRequest("clientId must be 1 to 255 characters without spaces");
  }
  return {
    id: readText(body, "id"),
    clientId,
    secret: readText(body, "secret", 1024),
    scopes: readScopes(body),
    settings: settings as Partial<ClientSettings>,
  };
}

function readScopes(body: Readonly<Record<string, unknown>>): NonNullable<ClientFields["scopes"]> {
  const defaults = readTexts(body, "defaultClientScopes");
  const optionals = readTexts(body, "optionalClientScopes");
  return { ...(defaults && { defaults }), ...(optionals && { optionals }) };
}

export const newSecret = (): string => randomBytes(24).toString("base64url");

/** Adds a client with what its settings call for: a secret, a service account, a resource server. Gives its id. */
export async function addClient(db: Queryable, realm: Realm, fields: ClientFields): Promise<string> {
  const { clientId } = fields;
  if (clientId === undefined) {
    throw badRequest("clientId is missing");
  }
  const settings = withConsequences({ ...DEFAULT_CLIENT_SETTINGS, ...fields.settings });
  const hasSecret = !settings.publicClient && !settings.bearerOnly;
  const id = await insertClient(db, realm.id, {
    id: fields.id,
    clientId,
    secret: hasSecret ? (fields.secret ?? newSecret()) : fields.secret,
    settings,
  });
  await assignFirstScopes(db, realm.id, id, fields.scopes);
  await ensureConsequences(db, realm, { id, clientId, settings, serviceUserId: undefined });
  return id;
}

/** Changes the given fields of a client, and what follows from them. */
export async function changeClient(db: Queryable, realm: Realm, client: Client, fields: ClientFields): Promise<void> {
  const settings = withConsequences({ ...client.settings, ...fields.settings });
  const clientId = fields.clientId ?? client.clientId;
  const needsSecret = !settings.publicClient && !settings.bearerOnly;
  await updateClient(db, client.id, {
    clientId,
    secret: fields.secret ?? client.secret ?? (needsSecret ? newSecret() : undefined),
    settings,
  });
  await ensureConsequences(db, realm, { ...client, clientId, settings });
  await publishChange(db, { kind: "client", realm: realm.name, clientId: client.clientId });
}

/** Protecting resources is done by the service account, which a public client cannot have. */
function withConsequences(settings: ClientSettings): ClientSettings {
  if (settings.publicClient) {
    return { ...settings, authorizationServicesEnabled: false, serviceAccountsEnabled: false };
  }
  return settings.authorizationServicesEnabled ? { ...settings, serviceAccountsEnabled: true } : settings;
}

async function ensureConsequences(
  db: Queryable,
  realm: Realm,
  client: Pick<Client, "id" | "clientId" | "settings" | "serviceUserId">,
): Promise<void> {
  const { settings, serviceUserId } = client;
  if (settings.serviceAccountsEnabled && serviceUserId === undefined) {
    await insertUser(db, realm.id, {
      username: `service-account-${client.clientId}`,
      serviceClient: client.id,
    });
  } else if (!settings.serviceAccountsEnabled && serviceUserId !== undefined) {
    await deleteUser(db, serviceUserId);
  }
  if (settings.authorizationServicesEnabled) {
    if (await addResourceServer(db, client.id)) {
      await addDefaults(db, client);
    }
  } else {
    await removeResourceServer(db, client.id);
  }
  await announceRules(db, realm.name, client);
  await publishChange(db, { kind: "client", realm: realm.name, clientId: client.clientId });
}

/**
 * What existing scripts expect to find: a resource for every path, and a policy that grants to everybody who is logged in. No
 * permission ties them together: until somebody asks for it, what no other resource covers is refused.
 */
async function addDefaults(db: Queryable, { id, clientId }: Pick<Client, "id" | "clientId">): Promise<void> {
  await insertResource(db, id, {
    name: "Default Resource",
    type: `urn:${clientId}:resources:default`,
    owner: id,
    uris: ["/*"],
    scopes: [],
  });
  await putPolicy(db, id, undefined, {
    name: "Default Policy",
    description: "Grants access to everybody who is logged in",
    type: "authenticated",
    logic: "POSITIVE",
    decisionStrategy: "AFFIRMATIVE",
    config: {},
    resources: [],
    scopes: [],
    policies: [],
  });
}

/** A client by its uuid, or `undefined`. */
export const findClientRecord = findClientById;
