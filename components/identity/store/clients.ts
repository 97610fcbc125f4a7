import { type AssignedScope, type ProtocolMapper, mappersOf } from "./client-scopes.ts";
import type { Queryable } from "./database.ts";

/** Fields of a client that the admin API shows and takes, besides id, clientId and secret. */
export interface ClientSettings {
  readonly name: string;
  readonly description: string;
  readonly rootUrl: string;
  readonly adminUrl: string;
  readonly baseUrl: string;
  readonly enabled: boolean;
  readonly publicClient: boolean;
  readonly bearerOnly: boolean;
  readonly consentRequired: boolean;
  readonly standardFlowEnabled: boolean;
  readonly implicitFlowEnabled: boolean;
  readonly directAccessGrantsEnabled: boolean;
  readonly serviceAccountsEnabled: boolean;
  readonly authorizationServicesEnabled: boolean;
  readonly frontchannelLogout: boolean;
  readonly fullScopeAllowed: boolean;
  readonly protocol: string;
  readonly redirectUris: readonly string[];
  readonly webOrigins: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
}

export const DEFAULT_CLIENT_SETTINGS: ClientSettings = {
  name: "",
  description: "",
  rootUrl: "",
  adminUrl: "",
  baseUrl: "",
  enabled: true,
  publicClient: false,
  bearerOnly: false,
  consentRequired: false,
  standardFlowEnabled: true,
  implicitFlowEnabled: false,
  directAccessGrantsEnabled: true,
  serviceAccountsEnabled: false,
  authorizationServicesEnabled: false,
  frontchannelLogout: false,
  fullScopeAllowed: true,
  protocol: "openid-connect",
  redirectUris: [],
  webOrigins: [],
  attributes: {},
};

export interface Client {
  readonly id: string;
  readonly clientId: string;
  readonly secret: string | undefined;
  readonly settings: ClientSettings;
  /** The account that client credentials act as. */
  readonly serviceUserId: string | undefined;
  readonly scopes: readonly AssignedScope[];
  /** What it adds to tokens besides what its scopes add. */
  readonly mappers: readonly ProtocolMapper[];
  /** Ids of the roles that it lets into tokens where it has not full scope. */
  readonly scopeRoles: readonly string[];
}

interface ClientRow {
  id: string;
  client_id: string;
  secret: string | null;
  settings: Partial<ClientSettings>;
  service_user: string | null;
  scopes: AssignedScope[];
  mappers: ProtocolMapper[];
  scope_roles: string[];
}

/** Attribute with the second secret that a client may show while its secret is being changed; the name is Keycloak's. */
export const OTHER_SECRET = "client.secret.rotated";

const SELECT = `select c.id, c.client_id, c.secret, c.settings, u.id as service_user, ${mappersOf("client", "c")} as mappers,
    coalesce((select jsonb_agg(role_id) from scope_mapping where client = c.id), '[]') as scope_roles,
    coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name, 'optional', a.optional,
        'attributes', s.attributes, 'protocol', s.protocol, 'mappers', ${mappersOf("scope", "s")},
        'roles', coalesce((select jsonb_agg(role_id) from scope_mapping where scope = s.id), '[]')) order by s.name)
      from client_client_scope a join client_scope s on s.id = a.scope where a.client = c.id), '[]') as scopes
  from client c left join app_user u on u.service_client = c.id`;

export async function findClient(db: Queryable, realmId: string, clientId: string): Promise<Client | undefined> {
  const { rows } = await db.query<ClientRow>(`${SELECT} where c.realm_id = $1 and c.client_id = $2`, [
    realmId,
    clientId,
  ]);
  return rows[0] && toClient(rows[0]);
}

export async function findClientById(db: Queryable, realmId: string, id: string): Promise<Client | undefined> {
  const { rows } = await db.query<ClientRow>(`${SELECT} where c.realm_id = $1 and c.id = $2`, [realmId, id]);
  return rows[0] && toClient(rows[0]);
}

export interface ClientFilter {
  readonly search?: string | undefined;
  readonly first: number;
  readonly max: number;
}

export async function listClients(db: Queryable, realmId: string, filter: ClientFilter): Promise<readonly Client[]> {
  const { rows } = await db.query<ClientRow>(
    `${SELECT} where c.realm_id = $1 and ($2::text is null or strpos(lower(c.client_id), lower($2)) > 0)
     order by c.client_id offset $3 limit $4`,
    [realmId, filter.search ?? null, filter.first, filter.max],
  );
  return rows.map(toClient);
}

export interface NewClient {
  readonly id?: string | undefined;
  readonly clientId: string;
  readonly secret: string | undefined;
  readonly settings: Partial<ClientSettings>;
}

export async function insertClient(db: Queryable, realmId: string, client: NewClient): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into client (id, realm_id, client_id, secret, settings)
     values (coalesce($1::uuid, gen_random_uuid()), $2, $3, $4, $5) returning id`,
    [client.id ?? null, realmId, client.clientId, client.secret ?? null, client.settings],
  );
  return (rows[0] as { id: string }).id;
}

export async function updateClient(
  db: Queryable,
  id: string,
  { clientId, secret, settings }: { clientId: string; secret: string | undefined; settings: Partial<ClientSettings> },
): Promise<void> {
  await db.query("update client set client_id = $2, secret = $3, settings = $4 where id = $1", [
    id,
    clientId,
    secret ?? null,
    settings,
  ]);
}

export async function deleteClient(db: Queryable, id: string): Promise<void> {
  await db.query("delete from client where id = $1", [id]);
}

function toClient(row: ClientRow): Client {
  return {
    id: row.id,
    clientId: row.client_id,
    secret: row.secret ?? undefined,
    settings: { ...DEFAULT_CLIENT_SETTINGS, ...row.settings },
    serviceUserId: row.service_user ?? undefined,
    scopes: row.scopes,
    mappers: row.mappers,
    scopeRoles: row.scope_roles,
  };
}
