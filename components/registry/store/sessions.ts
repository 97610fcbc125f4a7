import type { EndedLogin } from "@swath/auth";

import { createSecret, digestSecret } from "../access/secrets.ts";
import type { Sql } from "./database.ts";

export interface StoredSession {
  /** Left out for the administrator by password. */
  readonly username: string | undefined;
  /** What has to be the same still, for the session to be good. */
  readonly proof: string;
}

/** The platform's login that a session began with, as the issuer names it. */
export interface PlatformLogin {
  readonly sessionId: string | undefined;
  readonly userId: string;
}

/** Keeps a session and gives the secret of its cookie; sessions that ended are forgotten. */
export async function insertSession(
  sql: Sql,
  { username, proof, login }: StoredSession & { readonly login?: PlatformLogin | undefined },
  seconds: number,
): Promise<string> {
  const secret = createSecret();
  await sql.query("delete from session where expires_at <= now()");
  await sql.query(
    `insert into session (digest, username, proof, expires_at, login_session, login_subject)
     values ($1, $2, $3, now() + $4 * interval '1 second', $5, $6)`,
    [digestSecret(secret), username ?? null, proof, seconds, login?.sessionId ?? null, login?.userId ?? null],
  );
  return secret;
}

export async function findSession(sql: Sql, secret: string): Promise<StoredSession | undefined> {
  const [row] = await sql.query<{ username: string | null; proof: string }>(
    "/* prepared: session */ select username, proof from session where digest = $1 and expires_at > now()",
    [digestSecret(secret)],
  );
  return row && { username: row.username ?? undefined, proof: row.proof };
}

export async function deleteSession(sql: Sql, secret: string): Promise<void> {
  await sql.query("delete from session where digest = $1", [digestSecret(secret)]);
}

/** Ends the sessions that began with a login which has ended at the issuer. */
export async function deleteSessionsOfLogin(sql: Sql, { sessionId, userId }: EndedLogin): Promise<void> {
  await sql.query(
    sessionId === undefined
      ? "delete from session where login_subject = $1"
      : "delete from session where login_session = $1 and ($2::text is null or login_subject = $2)",
    sessionId === undefined ? [userId] : [sessionId, userId ?? null],
  );
}
