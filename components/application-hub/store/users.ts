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

export const listUsers = (sql: Sql, offset: number, limit: number): Promise<readonly UserRow[]> =>
  sql.rows<UserRow>(`${SELECT} order by name offset $1 limit $2`, [offset, limit]);

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
