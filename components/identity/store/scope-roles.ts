import type { Queryable } from "./database.ts";
import type { UserAccess } from "./users.ts";

type Roles = Pick<UserAccess, "realm" | "clients">;

/** The named roles with those that they are made of, and all roles of a client: what it may see without full scope. */
export async function findRolesWithin(db: Queryable, roles: readonly string[], client: string): Promise<Roles> {
  const { rows } = await db.query<{ name: string; client_id: string | null }>(
    `with recursive within as (
       select id from role where id = any($1::uuid[]) or client = $2
       union select c.child from within w join role_composite c on c.parent = w.id)
     select r.name, c.client_id from within w join role r on r.id = w.id left join client c on c.id = r.client`,
    [roles, client],
  );
  const clients: Record<string, string[]> = {};
  for (const { name, client_id: clientId } of rows) {
    if (clientId !== null) {
      (clients[clientId] ??= []).push(name);
    }
  }
  return { realm: rows.flatMap(({ name, client_id: clientId }) => (clientId === null ? [name] : [])), clients };
}

/** Ids of the named roles with those that they are made of. */
export async function listRolesWithin(db: Queryable, roles: readonly string[]): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with recursive within as (
       select id from role where id = any($1::uuid[])
       union select c.child from within w join role_composite c on c.parent = w.id)
     select id from within`,
    [roles],
  );
  return rows.map(({ id }) => id);
}

/** The roles that are in both, with the groups of the first. */
export function intersectAccess(access: UserAccess, within: Roles): UserAccess {
  const clients = Object.entries(access.clients).flatMap(([clientId, roles]) => {
    const kept = roles.filter((role) => within.clients[clientId]?.includes(role));
    return kept.length === 0 ? [] : [[clientId, kept] as const];
  });
  return {
    ...access,
    realm: access.realm.filter((role) => within.realm.includes(role)),
    clients: Object.fromEntries(clients),
  };
}
