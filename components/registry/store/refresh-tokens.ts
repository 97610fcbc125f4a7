import { createSecret, digestSecret } from "../access/secrets.ts";
import type { Sql } from "./database.ts";

export interface StoredRefreshToken {
  readonly username: string;
  /** What has to be the same still, for the token to be good. */
  readonly proof: string;
}

/** A build machine logs in with every build; the tokens of a login that were not used for the longest time go. */
const MAX_PER_LOGIN = 200;

/** Keeps a token and gives its text. */
export async function insertRefreshToken(
  sql: Sql,
  { username, proof }: StoredRefreshToken,
  seconds: number,
): Promise<string> {
  const token = createSecret();
  await sql.query(
    `delete from refresh_token where expires_at <= now() or digest in (
       select digest from refresh_token where username = $1 order by expires_at desc offset $2)`,
    [username, MAX_PER_LOGIN - 1],
  );
  await sql.query(
    "insert into refresh_token (digest, username, proof, expires_at) values ($1, $2, $3, now() + $4 * interval '1 second')",
    [digestSecret(token), username, proof, seconds],
  );
  return token;
}

/** Finds a token that is good, which it is for `seconds` more then. */
export async function findRefreshToken(
  sql: Sql,
  token: string,
  seconds: number,
): Promise<StoredRefreshToken | undefined> {
  const digest = digestSecret(token);
  const [row] = await sql.query<StoredRefreshToken>(
    "select username, proof from refresh_token where digest = $1 and expires_at > now()",
    [digest],
  );
  if (row !== undefined) {
    await sql.query(
      `update refresh_token set expires_at = now() + $2 * interval '1 second'
       where digest = $1 and expires_at < now() + $2 * interval '1 second' - interval '1 day'`,
      [digest, seconds],
    );
  }
  return row;
}
