import type { Queryable } from "./database.ts";

export interface Role {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  /** The client whose role it is; undefined for a realm role. */
  readonly client: string | undefined;
  readonly composite: boolean;
  readonly attributes: Readonly<Record<string, readonly string[]>>;
}

export interface RoleFields {
  readonly name: string;
  readonly description?: string | undefined;
  readonly attributes?: Readonly<Record<string, readonly string[]>> | undefined;
}

interface RoleRow {
  id: string;
  name: string;
  description: string | null;
  client: string | null;
  composite: boolean;
  attributes: Record<string, string[]>;
}

const SELECT = `select r.id, r.name, r.description, r.client, r.attributes,
  exists (select 1 from role_composite c where c.parent = r.id) as composite from role r`;

/** `client` null: realm roles. */
export async function listRoles(db: Queryable, realmId: string, client: string | null): Promise<readonly Role[]> {
  const { rows } = await db.query<RoleRow>(
    `${SELECT} where r.realm_id = $1 and r.client is not distinct from $2 order by r.name`,
    [realmId, client],
  );
  return rows.map(toRole);
}

export async function findRole(
  db: Queryable,
  realmId: string,
  client: string | null,
  name: string,
): Promise<Role | undefined> {
  const { rows } = await db.query<RoleRow>(
    `${SELECT} where r.realm_id = $1 and r.client is not distinct from $2 and r.name = $3`,
    [realmId, client, name],
  );
  return rows[0] && toRole(rows[0]);
}

export async function findRoleById(db: Queryable, realmId: string, id: string): Promise<Role | undefined> {
  const { rows } = await db.query<RoleRow>(`${SELECT} where r.realm_id = $1 and r.id = $2`, [realmId, id]);
  return rows[0] && toRole(rows[0]);
}

export async function insertRole(
  db: Queryable,
  realmId: string,
  role: RoleFields & { readonly client: string | null },
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    "insert into role (realm_id, client, name, description, attributes) values ($1, $2, $3, $4, $5) returning id",
    [realmId, role.client, role.name, role.description ?? null, role.attributes ?? {}],
  );
  return (rows[0] as { id: string }).id;
}

/** Makes sure that a role is there. */
export async function ensureRole(
  db: Queryable,
  realmId: string,
  role: { readonly client: string | null; readonly name: string; readonly description?: string },
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into role (realm_id, client, name, description) values ($1, $2, $3, $4)
     on conflict (realm_id, client, name) do update set name = excluded.name returning id`,
    [realmId, role.client, role.name, role.description ?? null],
  );
  return (rows[0] as { id: string }).id;
}

export async function updateRole(
  db: Queryable,
  id: string,
  { name, description, attributes }: RoleFields,
): Promise<void> {
  await db.query("update role set name = $2, description = $3, attributes = coalesce($4, attributes) where id = $1", [
    id,
    name,
    description ?? null,
    attributes ?? null,
  ]);
}

export async function deleteRole(db: Queryable, id: string): Promise<void> {
  await db.query("delete from role where id = $1", [id]);
}

export async function listComposites(db: Queryable, parent: string): Promise<readonly Role[]> {
  const { rows } = await db.query<RoleRow>(
    `${SELECT} join role_composite x on x.child = r.id where x.parent = $1 order by r.name`,
    [parent],
  );
  return rows.map(toRole);
}

export async function addComposites(db: Queryable, parent: string, children: readonly string[]): Promise<void> {
  await db.query("insert into role_composite (parent, child) select $1, unnest($2::uuid[]) on conflict do nothing", [
    parent,
    children,
  ]);
}

export async function removeComposites(db: Queryable, parent: string, children: readonly string[]): Promise<void> {
  await db.query("delete from role_composite where parent = $1 and child = any($2)", [parent, children]);
}

/** Whose roles are meant. */
export type RoleHolder =
  | { readonly kind: "user"; readonly id: string }
  | { readonly kind: "group"; readonly id: string };

const TABLES = { user: ["user_role", "user_id"], group: ["group_role", "group_id"] } as const;

export async function listHeldRoles(db: Queryable, holder: RoleHolder): Promise<readonly Role[]> {
  const [table, column] = TABLES[holder.kind];
  const { rows } = await db.query<RoleRow>(
    `${SELECT} join ${table} h on h.role_id = r.id where h.${column} = $1 order by r.name`,
    [holder.id],
  );
  return rows.map(toRole);
}

export async function giveRoles(db: Queryable, holder: RoleHolder, roles: readonly string[]): Promise<void> {
  const [table, column] = TABLES[holder.kind];
  await db.query(`insert into ${table} (${column}, role_id) select $1, unnest($2::uuid[]) on conflict do nothing`, [
    holder.id,
    roles,
  ]);
}

export async function takeRoles(db: Queryable, holder: RoleHolder, roles: readonly string[]): Promise<void> {
  const [table, column] = TABLES[holder.kind];
  await db.query(`delete from ${table} where ${column} = $1 and role_id = any($2)`, [holder.id, roles]);
}

/** Ids of the users who hold the role themselves. */
export async function listRoleUsers(
  db: Queryable,
  role: string,
  { first, max }: { first: number; max: number },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ user_id: string }>(
    `select h.user_id from user_role h join app_user u on u.id = h.user_id where h.role_id = $1
     order by u.username offset $2 limit $3`,
    [role, first, max],
  );
  return rows.map((row) => row.user_id);
}

function toRole(row: RoleRow): Role {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? undefined,
    client: row.client ?? undefined,
    composite: row.composite,
    attributes: row.attributes,
  };
}

/** Every role of a realm: those of the realm itself first, then those of clients, with their client ids. */
export async function listAllRoles(
  db: Queryable,
  realmId: string,
): Promise<readonly (Role & { readonly clientId: string | undefined })[]> {
  const { rows } = await db.query<RoleRow & { client_id: string | null }>(
    `select r.id, r.name, r.description, r.client, r.attributes, c.client_id,
       exists (select 1 from role_composite x where x.parent = r.id) as composite
     from role r left join client c on c.id = r.client where r.realm_id = $1
     order by c.client_id nulls first, r.name`,
    [realmId],
  );
  return rows.map((row) => ({ ...toRole(row), clientId: row.client_id ?? undefined }));
}

interface NamedRole {
  readonly name: string;
  readonly clientId: string | undefined;
}

/** The roles that each role stands for: itself, and all that it holds. */
export const listAccessOfRoles = (
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly NamedRole[]>> =>
  listAccess(db, "select id as holder, id from role where id = any($1::uuid[])", ids);

/** The roles that members of each group have by it and by the groups above it. */
export const listAccessOfGroups = (
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly NamedRole[]>> =>
  listAccess(
    db,
    `select g.holder, gr.role_id as id from groups g join group_role gr on gr.group_id = g.id`,
    ids,
    `groups as (select id as holder, id, parent from user_group where id = any($1::uuid[])
       union select c.holder, p.id, p.parent from groups c join user_group p on p.id = c.parent),`,
  );

async function listAccess(db: Queryable, own: string, ids: readonly string[], before = "") {
  const { rows } = await db.query<{ holder: string; name: string; client_id: string | null }>(
    `with recursive ${before} held as (${own} union select h.holder, c.child from held h join role_composite c on c.parent = h.id)
     select h.holder, r.name, c.client_id from held h join role r on r.id = h.id left join client c on c.id = r.client order by r.name`,
    [ids],
  );
  const access = new Map<string, NamedRole[]>();
  for (const { holder, name, client_id: clientId } of rows) {
    access.set(holder, [...(access.get(holder) ?? []), { name, clientId: clientId ?? undefined }]);
  }
  return access;
}
