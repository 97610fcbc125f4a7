import { Problem } from "@swath/service";

import type { Sql } from "./database.ts";

export interface UserRow {
  readonly name: string;
  readonly admin: boolean;
  readonly groups: readonly string[];
  readonly created: Date;
  readonly last_activity: Date | null;
}

/** Those that the identity service says and those of the hub, once each. */
const SELECT = `select name, admin, created, last_activity,
  array(select distinct unnest(claimed_groups || array(
    select group_name from group_members where user_name = users.name)) order by 1) as groups from users`;

const MAX_NAME_CHARACTERS = 255;

export const findUser = (sql: Sql, name: string): Promise<UserRow | undefined> =>
  sql.first<UserRow>(`${SELECT} where name = $1`, [name]);

interface UserSearch {
  readonly offset: number;
  readonly limit: number;
  readonly state?: keyof typeof WITH_SERVERS | undefined;
  readonly sort?: UserOrder | undefined;
  /** Part of the name, in any case. */
  readonly namePart?: string | undefined;
}

const servers = (condition: string): string =>
  `exists (select from servers where user_name = users.name and ${condition})`;
/** Users by the state of their servers (JupyterHub's parameter `state`). */
const WITH_SERVERS = {
  active: servers("state <> 'stopped'"),
  ready: servers("state = 'ready'"),
  inactive: `not ${servers("state <> 'stopped'")}`,
} as const;
const ORDERS = { id: "created", name: "name", last_activity: "last_activity" } as const;
/** `-` before it turns the order around. */
export type UserOrder = keyof typeof ORDERS | `-${keyof typeof ORDERS}`;
export const USER_ORDERS = Object.keys(ORDERS).flatMap((key) => [key, `-${key}`]) as readonly UserOrder[];

/** A page of the users that a search finds, and how many it finds. */
export async function listUsers(
  sql: Sql,
  { offset, limit, state, sort = "id", namePart = "" }: UserSearch,
): Promise<{ readonly users: readonly UserRow[]; readonly total: number }> {
  const where = `where position(lower($1) in lower(name)) > 0 ${state === undefined ? "" : `and ${WITH_SERVERS[state]}`}`;
  const column = ORDERS[sort.replace("-", "") as keyof typeof ORDERS];
  const [direction, nulls] = sort.startsWith("-") ? ["desc", "last"] : ["asc", "first"];
  const users = await sql.rows<UserRow>(
    `${SELECT} ${where} order by ${column} ${direction} nulls ${nulls}, name ${direction} offset $2 limit $3`,
    [namePart, offset, limit],
  );
  const [{ total } = { total: 0 }] = await sql.rows<{ total: number }>(
    `select count(*)::int as total from users ${where}`,
    [namePart],
  );
  return { users, total };
}

/** @throws {Problem} 404 */
export async function requireUser(sql: Sql, name: string): Promise<UserRow> {
  const user = await findUser(sql, name);
  if (user === undefined) {
    throw new Problem(404, `There is no user ${name}.`);
  }
  return user;
}

/** A user logged in: what the identity service says of them now. */
export async function saveLogin(
  sql: Sql,
  { name, admin, groups }: { readonly name: string; readonly admin: boolean; readonly groups: readonly string[] },
): Promise<void> {
  checkUserName(name);
  await sql.rows(
    `insert into users (name, admin, claimed_groups, last_activity) values ($1, $2, $3, now())
     on conflict (name) do update set admin = excluded.admin, claimed_groups = excluded.claimed_groups, last_activity = now()`,
    [name, admin, groups],
  );
}

/** @throws {Problem} 400 */
export function checkUserName(name: string): void {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (name === "" || name.length > MAX_NAME_CHARACTERS || /[\u0000-\u001f\u007f/\\]/.test(name)) {
    throw new Problem(
      400,
      `"${name.slice(0, 60)}" is not a user name; allowed: 1 to ${MAX_NAME_CHARACTERS} characters without slashes and control characters.`,
    );
  }
}
