import type { Queryable } from "./database.ts";

/** A resource of a resource server. */
export interface AuthzResource {
  readonly id: string;
  readonly name: string;
  readonly displayName: string | undefined;
  readonly type: string | undefined;
  readonly iconUri: string | undefined;
  /** Id of a user, or the uuid of the client itself. */
  readonly owner: string;
  readonly ownerManaged: boolean;
  readonly uris: readonly string[];
  readonly attributes: Readonly<Record<string, readonly string[]>>;
  readonly scopes: readonly { readonly id: string; readonly name: string }[];
}

interface ResourceRow {
  id: string;
  name: string;
  display_name: string | null;
  type: string | null;
  icon_uri: string | null;
  owner: string;
  owner_managed: boolean;
  uris: string[];
  attributes: Record<string, string[]>;
  scopes: { id: string; name: string }[];
}

const SELECT = `select r.id, r.name, r.display_name, r.type, r.icon_uri, r.owner, r.owner_managed, r.uris, r.attributes,
  coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name) order by s.name)
    from authz_resource_scope rs join authz_scope s on s.id = rs.scope where rs.resource = r.id), '[]') as scopes
  from authz_resource r`;

export interface ResourceFilter {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly exactName?: boolean | undefined;
  readonly uri?: string | undefined;
  readonly type?: string | undefined;
  readonly owner?: string | undefined;
  readonly scope?: string | undefined;
  readonly first?: number | undefined;
  /** Below zero: all. */
  readonly max?: number | undefined;
}

export async function listResources(
  db: Queryable,
  client: string,
  filter: ResourceFilter = {},
): Promise<readonly AuthzResource[]> {
  const { rows } = await db.query<ResourceRow>(
    `${SELECT} where r.client = $1 and ($2::uuid is null or r.id = $2)
       and ($3::text is null or case when $4 then r.name = $3 else strpos(lower(r.name), lower($3)) > 0 end)
       and ($5::text is null or $5 = any(r.uris)) and ($6::text is null or r.type = $6)
       and ($7::text is null or r.owner = $7)
       and ($8::text is null or exists (select 1 from authz_resource_scope rs join authz_scope s on s.id = rs.scope
         where rs.resource = r.id and s.name = $8))
     order by r.name, r.id offset $9 limit $10`,
    [
      client,
      filter.id ?? null,
      filter.name ?? null,
      filter.exactName ?? false,
      filter.uri ?? null,
      filter.type ?? null,
      filter.owner ?? null,
      filter.scope ?? null,
      filter.first ?? 0,
      filter.max === undefined || filter.max < 0 ? null : filter.max,
    ],
  );
  return rows.map(toResource);
}

export async function findResource(db: Queryable, client: string, id: string): Promise<AuthzResource | undefined> {
  return (await listResources(db, client, { id }))[0];
}

export interface ResourceFields {
  readonly name: string;
  readonly displayName?: string | undefined;
  readonly type?: string | undefined;
  readonly iconUri?: string | undefined;
  readonly owner: string;
  readonly ownerManaged?: boolean | undefined;
  readonly uris: readonly string[];
  readonly attributes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Names; those that do not exist are made. */
  readonly scopes: readonly string[];
}

export async function insertResource(
  db: Queryable,
  client: string,
  resource: ResourceFields & { readonly id?: string | undefined },
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into authz_resource (id, client, name, display_name, type, icon_uri, owner, owner_managed, uris, attributes)
     values (coalesce($1::uuid, gen_random_uuid()), $2, $3, $4, $5, $6, $7, $8, $9, $10) returning id`,
    [resource.id ?? null, client, ...fieldsOf(resource)],
  );
  const { id } = rows[0] as { id: string };
  await setResourceScopes(db, client, id, resource.scopes);
  return id;
}

export async function updateResource(
  db: Queryable,
  client: string,
  id: string,
  resource: ResourceFields,
): Promise<void> {
  await db.query(
    `update authz_resource set name = $2, display_name = $3, type = $4, icon_uri = $5, owner = $6, owner_managed = $7,
       uris = $8, attributes = $9 where id = $1`,
    [id, ...fieldsOf(resource)],
  );
  await setResourceScopes(db, client, id, resource.scopes);
}

/** Deletes a resource with what its owner shares of it. */
export async function deleteResource(db: Queryable, client: string, id: string): Promise<boolean> {
  await db.query(
    `delete from authz_policy p using authz_policy_resource x
     where x.policy = p.id and x.resource = $2 and p.client = $1 and p.owner is not null`,
    [client, id],
  );
  const { rowCount } = await db.query("delete from authz_resource where client = $1 and id = $2", [client, id]);
  return rowCount === 1;
}

const fieldsOf = (resource: ResourceFields) => [
  resource.name,
  resource.displayName ?? null,
  resource.type ?? null,
  resource.iconUri ?? null,
  resource.owner,
  resource.ownerManaged ?? false,
  resource.uris,
  resource.attributes ?? {},
];

async function setResourceScopes(
  db: Queryable,
  client: string,
  resource: string,
  scopes: readonly string[],
): Promise<void> {
  await db.query("delete from authz_resource_scope where resource = $1", [resource]);
  await db.query(
    `insert into authz_scope (client, name) select $1, unnest($2::text[]) on conflict (client, name) do nothing`,
    [client, [...new Set(scopes)]],
  );
  await db.query(
    `insert into authz_resource_scope (resource, scope)
     select $1, id from authz_scope where client = $2 and name = any($3)`,
    [resource, client, scopes],
  );
}

export interface AuthzScope {
  readonly id: string;
  readonly name: string;
  readonly displayName: string | undefined;
  readonly iconUri: string | undefined;
}

export async function listScopes(db: Queryable, client: string): Promise<readonly AuthzScope[]> {
  const { rows } = await db.query<{ id: string; name: string; display_name: string | null; icon_uri: string | null }>(
    "select id, name, display_name, icon_uri from authz_scope where client = $1 order by name",
    [client],
  );
  return rows.map(({ id, name, display_name, icon_uri }) => ({
    id,
    name,
    displayName: display_name ?? undefined,
    iconUri: icon_uri ?? undefined,
  }));
}

export async function insertScope(
  db: Queryable,
  client: string,
  scope: { readonly name: string; readonly displayName?: string | undefined; readonly iconUri?: string | undefined },
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    "insert into authz_scope (client, name, display_name, icon_uri) values ($1, $2, $3, $4) returning id",
    [client, scope.name, scope.displayName ?? null, scope.iconUri ?? null],
  );
  return (rows[0] as { id: string }).id;
}

export async function updateScope(
  db: Queryable,
  client: string,
  { id, name, displayName, iconUri }: AuthzScope,
): Promise<boolean> {
  const { rowCount } = await db.query(
    "update authz_scope set name = $3, display_name = $4, icon_uri = $5 where client = $1 and id = $2",
    [client, id, name, displayName ?? null, iconUri ?? null],
  );
  return rowCount === 1;
}

export async function deleteScope(db: Queryable, client: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from authz_scope where client = $1 and id = $2", [client, id]);
  return rowCount === 1;
}

function toResource(row: ResourceRow): AuthzResource {
  return {
    id: row.id,
    name: row.name,
    displayName: row.display_name ?? undefined,
    type: row.type ?? undefined,
    iconUri: row.icon_uri ?? undefined,
    owner: row.owner,
    ownerManaged: row.owner_managed,
    uris: row.uris,
    attributes: row.attributes,
    scopes: row.scopes,
  };
}
