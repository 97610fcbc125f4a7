import type { Sql } from "../store/database.ts";
import type { ServerRow } from "../store/servers.ts";
import { findUser } from "../store/users.ts";

/** Why somebody may open a server. */
export type EntryReason = "owner" | "share" | "admin";

/** Whether a user may open a server, by what right; undefined where they may not. */
export async function mayEnter(
  sql: Sql,
  user: string,
  server: Pick<ServerRow, "id" | "user_name">,
): Promise<EntryReason | undefined> {
  if (server.user_name === user) {
    return "owner";
  }
  const row = await findUser(sql, user);
  if (row === undefined) {
    return undefined;
  }
  const share = await sql.first(
    `select 1 from shares where server_id = $1 and (expires is null or expires > now()) and 'access:servers' = any(scopes)
       and (to_user = $2 or to_group = any($3))`,
    [server.id, user, row.groups],
  );
  return share !== undefined ? "share" : row.admin ? "admin" : undefined;
}
