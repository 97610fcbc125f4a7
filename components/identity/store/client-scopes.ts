import type { Queryable } from "./database.ts";

/** Adds something to tokens: `type` is one of `claims/mappers.ts`. */
export interface ProtocolMapper {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly config: Readonly<Record<string, string>>;
}

export interface ClientScope {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly protocol: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly mappers: readonly ProtocolMapper[];
}

/** A scope as a client has it: granted always, or when it is asked for. */
export interface AssignedScope extends ClientScope {
  readonly optional: boolean;
  /** Roles that it lets through for clients without full scope. */
  readonly roles: readonly string[];
}

interface ScopeRow {
  id: string;
  name: string;
  description: string | null;
  protocol: string;
  attributes: Record<string, string>;
  mappers: ProtocolMapper[];
}

/** The mappers of a row `t`, whose column of `protocol_mapper` is `owner`. */
export const mappersOf = (owner: "client" | "scope", table: string): string =>
  `coalesce((select jsonb_agg(jsonb_build_object('id', m.id, 'name', m.name, 'type', m.type, 'config', m.config) order by m.name)
     from protocol_mapper m where m.${owner} = ${table}.id), '[]')`;

const SELECT = `select s.id, s.name, s.description, s.protocol, s.attributes, ${mappersOf("scope", "s")} as mappers
  from client_scope s`;

export async function listClientScopes(db: Queryable, realmId: string): Promise<readonly ClientScope[]> {
  const { rows } = await db.query<ScopeRow>(`${SELECT} where s.realm_id = $1 order by s.name`, [realmId]);
  return rows.map(toScope);
}

export async function findClientScope(db: Queryable, realmId: string, id: string): Promise<ClientScope | undefined> {
  const { rows } = await db.query<ScopeRow>(`${SELECT} where s.realm_id = $1 and s.id = $2`, [realmId, id]);
  return rows[0] && toScope(rows[0]);
}

export type ClientScopeFields = Omit<ClientScope, "id" | "mappers">;

export async function insertClientScope(
  db: Queryable,
  realmId: string,
  scope: ClientScopeFields & { readonly id?: string | undefined },
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into client_scope (id, realm_id, name, description, protocol, attributes)
     values (coalesce($1::uuid, gen_random_uuid()), $2, $3, $4, $5, $6) returning id`,
    [scope.id ?? null, realmId, scope.name, scope.description ?? null, scope.protocol, scope.attributes],
  );
  return (rows[0] as { id: string }).id;
}

export async function updateClientScope(db: Queryable, id: string, scope: ClientScopeFields): Promise<void> {
  await db.query("update client_scope set name = $2, description = $3, protocol = $4, attributes = $5 where id = $1", [
    id,
    scope.name,
    scope.description ?? null,
    scope.protocol,
    scope.attributes,
  ]);
}

export async function deleteClientScope(db: Queryable, id: string): Promise<void> {
  await db.query("delete from client_scope where id = $1", [id]);
}

/** Who has scopes: a client its own, a realm those that its new clients get. */
export interface ScopeAssignee {
  readonly kind: "client" | "realm";
  readonly id: string;
}

const ASSIGNMENTS = {
  client: { table: "client_client_scope", column: "client" },
  realm: { table: "realm_client_scope", column: "realm_id" },
} as const;

export async function listAssignedScopes(
  db: Queryable,
  { kind, id }: ScopeAssignee,
  optional: boolean,
): Promise<readonly ClientScope[]> {
  const { table, column } = ASSIGNMENTS[kind];
  const { rows } = await db.query<ScopeRow>(
    `${SELECT} join ${table} a on a.scope = s.id where a.${column} = $1 and a.optional = $2 order by s.name`,
    [id, optional],
  );
  return rows.map(toScope);
}

export async function assignScope(
  db: Queryable,
  { kind, id }: ScopeAssignee,
  scope: string,
  optional: boolean,
): Promise<void> {
  const { table, column } = ASSIGNMENTS[kind];
  await db.query(
    `insert into ${table} (${column}, scope, optional) values ($1, $2, $3)
     on conflict (${column}, scope) do update set optional = $3`,
    [id, scope, optional],
  );
}

export async function removeAssignedScope(
  db: Queryable,
  { kind, id }: ScopeAssignee,
  scope: string,
  optional: boolean,
): Promise<void> {
  const { table, column } = ASSIGNMENTS[kind];
  await db.query(`delete from ${table} where ${column} = $1 and scope = $2 and optional = $3`, [id, scope, optional]);
}

/** Gives a new client the scopes of the realm, or those that are named. */
export async function assignFirstScopes(
  db: Queryable,
  realmId: string,
  client: string,
  { defaults, optionals }: { readonly defaults?: readonly string[]; readonly optionals?: readonly string[] } = {},
): Promise<void> {
  for (const [names, optional] of [
    [defaults, false],
    [optionals, true],
  ] as const) {
    await db.query(
      `insert into client_client_scope (client, scope, optional)
       select $2, s.id, $4 from client_scope s left join realm_client_scope r on r.scope = s.id
       where s.realm_id = $1 and case when $3::text[] is null then r.optional = $4 else s.name = any($3) end
       on conflict do nothing`,
      [realmId, client, names ?? null, optional],
    );
  }
}

/** Adds a mapper to a client or a scope. */
export async function insertMapper(
  db: Queryable,
  owner: MapperOwner,
  mapper: Omit<ProtocolMapper, "id"> & { readonly id?: string | undefined },
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into protocol_mapper (id, ${owner.kind}, name, type, config)
     values (coalesce($1::uuid, gen_random_uuid()), $2, $3, $4, $5) returning id`,
    [mapper.id ?? null, owner.id, mapper.name, mapper.type, mapper.config],
  );
  return (rows[0] as { id: string }).id;
}

export interface MapperOwner {
  readonly kind: "client" | "scope";
  readonly id: string;
}

export async function listMappers(db: Queryable, owner: MapperOwner): Promise<readonly ProtocolMapper[]> {
  const { rows } = await db.query<{ id: string; name: string; type: string; config: Record<string, string> }>(
    `select id, name, type, config from protocol_mapper where ${owner.kind} = $1 order by name`,
    [owner.id],
  );
  return rows;
}

export async function updateMapper(db: Queryable, owner: MapperOwner, mapper: ProtocolMapper): Promise<void> {
  await db.query(`update protocol_mapper set name = $3, type = $4, config = $5 where ${owner.kind} = $1 and id = $2`, [
    owner.id,
    mapper.id,
    mapper.name,
    mapper.type,
    mapper.config,
  ]);
}

export async function deleteMapper(db: Queryable, owner: MapperOwner, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`delete from protocol_mapper where ${owner.kind} = $1 and id = $2`, [
    owner.id,
    id,
  ]);
  return rowCount === 1;
}

/** Ids of the roles that a client or scope lets through. */
export async function listScopeMappings(db: Queryable, owner: MapperOwner): Promise<readonly string[]> {
  const { rows } = await db.query<{ role_id: string }>(
    `select role_id from scope_mapping where ${owner.kind} = $1 order by role_id`,
    [owner.id],
  );
  return rows.map(({ role_id: id }) => id);
}

export async function addScopeMappings(db: Queryable, owner: MapperOwner, roles: readonly string[]): Promise<void> {
  await db.query(
    `insert into scope_mapping (${owner.kind}, role_id) select $1, unnest($2::uuid[]) on conflict do nothing`,
    [owner.id, roles],
  );
}

export async function removeScopeMappings(db: Queryable, owner: MapperOwner, roles: readonly string[]): Promise<void> {
  await db.query(`delete from scope_mapping where ${owner.kind} = $1 and role_id = any($2::uuid[])`, [owner.id, roles]);
}

function toScope(row: ScopeRow): ClientScope {
  return { ...row, description: row.description ?? undefined };
}
