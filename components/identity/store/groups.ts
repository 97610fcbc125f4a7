import type { Queryable } from "./database.ts";

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly parent: string | undefined;
  readonly attributes: Readonly<Record<string, readonly string[]>>;
}

interface GroupRow {
  id: string;
  name: string;
  path: string;
  parent: string | null;
  attributes: Record<string, string[]>;
}

const COLUMNS = "g.id, g.name, g.path, g.parent, g.attributes";

/** `parent` null: those of the top level; undefined: all. */
export async function listGroups(
  db: Queryable,
  realmId: string,
  { parent, search }: { readonly parent?: string | null; readonly search?: string | undefined } = {},
): Promise<readonly Group[]> {
  const { rows } = await db.query<GroupRow>(
    `select ${COLUMNS} from user_group g where g.realm_id = $1 and ($2 or g.parent is not distinct from $3::uuid)
       and ($4::text is null or strpos(lower(g.name), lower($4)) > 0) order by g.path`,
    [realmId, parent === undefined, parent ?? null, search ?? null],
  );
  return rows.map(toGroup);
}

export async function findGroup(db: Queryable, realmId: string, id: string): Promise<Group | undefined> {
  const { rows } = await db.query<GroupRow>(`select ${COLUMNS} from user_group g where g.realm_id = $1 and g.id = $2`, [
    realmId,
    id,
  ]);
  return rows[0] && toGroup(rows[0]);
}

export async function insertGroup(
  db: Queryable,
  realmId: string,
  { name, parent }: { readonly name: string; readonly parent: Group | undefined },
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    "insert into user_group (realm_id, parent, name, path) values ($1, $2, $3, $4) returning id",
    [realmId, parent?.id ?? null, name, `${parent?.path ?? ""}/${name}`],
  );
  return (rows[0] as { id: string }).id;
}

/** Renames a group, and the paths of those below it. */
export async function renameGroup(db: Queryable, group: Group, name: string): Promise<void> {
  const path = `${group.path.slice(0, group.path.lastIndexOf("/"))}/${name}`;
  await db.query("update user_group set name = $2 where id = $1", [group.id, name]);
  await db.query(
    `with recursive tree as (
       select id from user_group where id = $1 union select g.id from user_group g join tree t on g.parent = t.id)
     update user_group g set path = $3 || substr(g.path, length($2) + 1) from tree where g.id = tree.id`,
    [group.id, group.path, path],
  );
}

export async function replaceGroupAttributes(
  db: Queryable,
  id: string,
  attributes: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  await db.query("update user_group set attributes = $2 where id = $1", [id, attributes]);
}

export async function findGroupByPath(db: Queryable, realmId: string, path: string): Promise<Group | undefined> {
  const { rows } = await db.query<GroupRow>(
    `select ${COLUMNS} from user_group g where g.realm_id = $1 and g.path = $2`,
    [realmId, path],
  );
  return rows[0] && toGroup(rows[0]);
}

/** Groups that new users of the realm are put into. */
export async function listDefaultGroups(db: Queryable, realmId: string): Promise<readonly Group[]> {
  const { rows } = await db.query<GroupRow>(
    `select ${COLUMNS} from user_group g where g.realm_id = $1 and g.is_default order by g.path`,
    [realmId],
  );
  return rows.map(toGroup);
}

export async function setDefaultGroup(db: Queryable, id: string, isDefault: boolean): Promise<void> {
  await db.query("update user_group set is_default = $2 where id = $1", [id, isDefault]);
}

export async function joinDefaultGroups(db: Queryable, realmId: string, userId: string): Promise<void> {
  await db.query(
    `insert into group_member (user_id, group_id) select $2, id from user_group where realm_id = $1 and is_default
     on conflict do nothing`,
    [realmId, userId],
  );
}

export async function deleteGroup(db: Queryable, id: string): Promise<void> {
  await db.query("delete from user_group where id = $1", [id]);
}

export async function listGroupsOfUser(db: Queryable, userId: string): Promise<readonly Group[]> {
  const { rows } = await db.query<GroupRow>(
    `select ${COLUMNS} from user_group g join group_member m on m.group_id = g.id where m.user_id = $1 order by g.path`,
    [userId],
  );
  return rows.map(toGroup);
}

export async function addMember(db: Queryable, userId: string, groupId: string): Promise<void> {
  await db.query("insert into group_member (user_id, group_id) values ($1, $2) on conflict do nothing", [
    userId,
    groupId,
  ]);
}

export async function removeMember(db: Queryable, userId: string, groupId: string): Promise<void> {
  await db.query("delete from group_member where user_id = $1 and group_id = $2", [userId, groupId]);
}

export async function listMembers(
  db: Queryable,
  groupId: string,
  { first, max }: { readonly first: number; readonly max: number },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ user_id: string }>(
    `select m.user_id from group_member m join app_user u on u.id = m.user_id where m.group_id = $1
     order by u.username offset $2 limit $3`,
    [groupId, first, max],
  );
  return rows.map(({ user_id }) => user_id);
}

function toGroup({ parent, ...group }: GroupRow): Group {
  return { ...group, parent: parent ?? undefined };
}
