import { createSecret, digestSecret } from "../access/secrets.ts";
import type { Sql } from "./database.ts";

/** Somebody who has come with a token of the identity service at least once. */
export interface Account {
  readonly id: number;
  readonly username: string;
  readonly userId: string;
  readonly groups: readonly string[];
  readonly isAdmin: boolean;
  readonly secretDigest: Buffer | undefined;
  readonly secretCreatedAt: Date | undefined;
  readonly createdAt: Date;
}

interface AccountRow {
  readonly id: string;
  readonly username: string;
  readonly user_id: string;
  readonly groups: string[];
  readonly is_admin: boolean;
  readonly secret_digest: Buffer | null;
  readonly secret_created_at: Date | null;
  readonly created_at: Date;
}

const toAccount = (row: AccountRow): Account => ({
  id: Number(row.id),
  username: row.username,
  userId: row.user_id,
  groups: row.groups,
  isAdmin: row.is_admin,
  secretDigest: row.secret_digest ?? undefined,
  secretCreatedAt: row.secret_created_at ?? undefined,
  createdAt: row.created_at,
});

export async function findAccount(sql: Sql, username: string): Promise<Account | undefined> {
  const [row] = await sql.query<AccountRow>("/* prepared: account */ select * from account where username = $1", [
    username,
  ]);
  return row && toAccount(row);
}

/** Accounts whose names have a part, by name. */
export async function listAccounts(
  sql: Sql,
  { part, offset, limit }: { readonly part: string; readonly offset: number; readonly limit: number },
): Promise<{ readonly accounts: readonly Account[]; readonly total: number }> {
  const rows = await sql.query<AccountRow & { total: string }>(
    `select *, count(*) over () as total from account where position(lower($1) in lower(username)) > 0
     order by username offset $2 limit $3`,
    [part, offset, limit],
  );
  return { accounts: rows.map(toAccount), total: Number(rows[0]?.total ?? 0) };
}

export async function findAccountById(sql: Sql, id: string): Promise<Account | undefined> {
  const [row] = await sql.query<AccountRow>("select * from account where id = $1", [id]);
  return row && toAccount(row);
}

interface SeenUser {
  readonly username: string;
  readonly userId: string;
  readonly groups: readonly string[];
  readonly isAdmin: boolean;
}

/**
 * Keeps what a verified token says about its user. A name that has gone over to another user of the identity service begins anew:
 * secret and memberships of the one before are not the new one's.
 */
export async function recordAccount(sql: Sql, { username, userId, groups, isAdmin }: SeenUser): Promise<Account> {
  const [row] = await sql.query<AccountRow>(
    `with former as (
       delete from member where kind = 'user' and name = $1
         and exists (select from account where username = $1 and user_id <> $2))
     insert into account (username, user_id, groups, is_admin) values ($1, $2, $3, $4)
     on conflict (username) do update set groups = excluded.groups, is_admin = excluded.is_admin, seen_at = now(),
       secret_digest = case when account.user_id = excluded.user_id then account.secret_digest end,
       secret_created_at = case when account.user_id = excluded.user_id then account.secret_created_at end,
       user_id = excluded.user_id
     returning *`,
    [username, userId, groups, isAdmin],
  );
  return toAccount(row as AccountRow);
}

/** A new secret for command lines; it is good until it is replaced or revoked. */
export async function createAccountSecret(sql: Sql, username: string): Promise<string> {
  const secret = createSecret();
  await sql.query("update account set secret_digest = $2, secret_created_at = now() where username = $1", [
    username,
    digestSecret(secret),
  ]);
  return secret;
}

export async function revokeAccountSecret(sql: Sql, username: string): Promise<void> {
  await sql.query("update account set secret_digest = null, secret_created_at = null where username = $1", [username]);
}
