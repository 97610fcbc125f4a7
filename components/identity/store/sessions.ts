import { randomUUID } from "node:crypto";

import type { RealmSettings } from "../realm-settings.ts";
import { publishChange } from "./changes.ts";
import type { Queryable } from "./database.ts";

export interface NewSession {
  readonly id?: string | undefined;
  readonly realmId: string;
  readonly userId: string;
  readonly offline: boolean;
  readonly ip: string | undefined;
  readonly userAgent: string | undefined;
}

export interface StartedSession {
  readonly sessionId: string;
  /** The refresh token that is good now … */
  readonly refreshId: string;
  /** … of this chain. */
  readonly chain: string;
}

export interface ClientGrant {
  readonly client: string;
  readonly scope: string;
  readonly nonce?: string | undefined;
  readonly authTime?: Date | undefined;
}

/** Windows of one browser that may hold refresh tokens of the same client at once; a further one displaces the oldest. */
const CHAINS_PER_CLIENT = 20;

/**
 * Starts a session (or goes on with it, when the id is known) and begins a chain of refresh tokens of a client in it. Chains
 * that the client has already go on: each window of a browser has its own.
 */
export async function startSession(
  db: Queryable,
  session: NewSession,
  grant: ClientGrant,
  settings: RealmSettings,
): Promise<StartedSession> {
  const sessionId = session.id ?? randomUUID();
  const refreshId = randomUUID();
  const chain = randomUUID();
  const idle = session.offline ? settings.offlineSessionIdleTimeout : settings.ssoSessionIdleTimeout;
  const longest = session.offline ? FOREVER : settings.ssoSessionMaxLifespan;
  await db.query({
    name: "start-session",
    text: `with s as (
        insert into user_session (id, realm_id, user_id, expires_at, ends_at, offline, ip, user_agent)
        values ($1, $2, $3, now() + least($4::float8, $5::float8) * interval '1 second',
          now() + $5 * interval '1 second', $6, $7, $8)
        on conflict (id) do update set last_access = now(), offline = user_session.offline or excluded.offline,
          ends_at = greatest(user_session.ends_at, case when excluded.offline then excluded.ends_at end),
          expires_at = greatest(user_session.expires_at, least(now() + $4 * interval '1 second', user_session.ends_at))
        returning id),
      displaced as (
        delete from client_session where session_id = $1 and client = $9 and chain in (
          select chain from client_session where session_id = $1 and client = $9
          order by rotated_at desc offset ${CHAINS_PER_CLIENT - 1}))
      insert into client_session (session_id, client, scope, nonce, auth_time, refresh_id, chain)
      select id, $9, $10, $11, coalesce($12, now()), $13, $14 from s`,
    values: [
      sessionId,
      session.realmId,
      session.userId,
      idle,
      longest,
      session.offline,
      session.ip ?? null,
      session.userAgent?.slice(0, 300) ?? null,
      grant.client,
      grant.scope,
      grant.nonce ?? null,
      grant.authTime ?? null,
      refreshId,
      chain,
    ],
  });
  return { sessionId, refreshId, chain };
}

/** A hundred years: PostgreSQL's `infinity` does not survive arithmetic. */
const FOREVER = 100 * 365 * 24 * 3600;

export async function isSessionActive(db: Queryable, sessionId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "is-session-active",
    text: `select 1 from user_session s join app_user u on u.id = s.user_id
      where s.id = $1 and s.expires_at > now() and u.enabled`,
    values: [sessionId],
  });
  return rowCount === 1;
}

/** Ends a session everywhere: its refresh tokens, and the login in the browser. */
export async function endSession(db: Queryable, realm: { id: string; name: string }, sid: string): Promise<boolean> {
  await db.query("delete from oidc_record where realm_id = $1 and model = 'Session' and uid = $2", [realm.id, sid]);
  const { rowCount } = await db.query("delete from user_session where realm_id = $1 and id = $2", [realm.id, sid]);
  await publishChange(db, { kind: "session", realm: realm.name, sid });
  return rowCount === 1;
}

/**
 * Ends one chain of refresh tokens of a client in a session, or all of them where none is named. The login in the browser and other clients
 * go on; a session that no browser has ends with its last chain.
 */
export async function endChain(
  db: Queryable,
  realm: { id: string; name: string },
  {
    sessionId,
    client,
    chain,
  }: { readonly sessionId: string; readonly client: string; readonly chain?: string | undefined },
): Promise<void> {
  await db.query(
    "delete from client_session where session_id = $1 and client = $2 and ($3::uuid is null or chain = $3)",
    [sessionId, client, chain ?? null],
  );
  const { rowCount } = await db.query(
    `select from user_session s where s.id = $1
       and not exists (select from client_session where session_id = s.id)
       and not exists (select from oidc_record where realm_id = $2 and model = 'Session' and uid = s.id)`,
    [sessionId, realm.id],
  );
  if (rowCount === 1) {
    await endSession(db, realm, sessionId);
  }
}

/** Ends all sessions of a user, except perhaps the one it sits in. */
export async function endUserSessions(
  db: Queryable,
  realm: { id: string; name: string },
  userId: string,
  except?: string,
): Promise<void> {
  await db.query(
    `delete from oidc_record where realm_id = $1 and account_id = $2 and ($3::text is null or uid is distinct from $3)`,
    [realm.id, userId, except ?? null],
  );
  const { rows } = await db.query<{ id: string }>(
    `delete from user_session where realm_id = $1 and user_id = $2 and ($3::text is null or id <> $3) returning id`,
    [realm.id, userId, except ?? null],
  );
  for (const { id } of rows) {
    await publishChange(db, { kind: "session", realm: realm.name, sid: id });
  }
}

export interface SessionView {
  readonly id: string;
  readonly userId: string;
  readonly username: string;
  readonly ip: string | undefined;
  readonly userAgent: string | undefined;
  readonly startedAt: Date;
  readonly lastAccess: Date;
  readonly offline: boolean;
  /** Client uuid to client id. */
  readonly clients: Readonly<Record<string, string>>;
}

interface SessionRow {
  id: string;
  user_id: string;
  username: string;
  ip: string | null;
  user_agent: string | null;
  started_at: Date;
  last_access: Date;
  offline: boolean;
  clients: Record<string, string> | null;
}

export interface SessionFilter {
  readonly userId?: string | undefined;
  readonly client?: string | undefined;
  readonly offline?: boolean | undefined;
  readonly first: number;
  readonly max: number;
}

export async function listSessions(
  db: Queryable,
  realmId: string,
  filter: SessionFilter,
): Promise<readonly SessionView[]> {
  const { rows } = await db.query<SessionRow>(
    `select s.id, s.user_id, u.username, s.ip, s.user_agent, s.started_at, s.last_access, s.offline,
       (select jsonb_object_agg(c.id, c.client_id) from client_session cs join client c on c.id = cs.client
        where cs.session_id = s.id) as clients
     from user_session s join app_user u on u.id = s.user_id
     where s.realm_id = $1 and s.expires_at > now() and ($2::uuid is null or s.user_id = $2)
       and ($3::uuid is null or exists (select 1 from client_session cs where cs.session_id = s.id and cs.client = $3))
       and ($4::boolean is null or s.offline = $4)
     order by s.last_access desc, s.id offset $5 limit $6`,
    [realmId, filter.userId ?? null, filter.client ?? null, filter.offline ?? null, filter.first, filter.max],
  );
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    username: row.username,
    ip: row.ip ?? undefined,
    userAgent: row.user_agent ?? undefined,
    startedAt: row.started_at,
    lastAccess: row.last_access,
    offline: row.offline,
    clients: row.clients ?? {},
  }));
}

export interface SessionCount {
  /** Of the client: uuid and name. */
  readonly id: string;
  readonly clientId: string;
  readonly active: number;
  readonly offline: number;
}

/** How many sessions each client has that has any. */
export async function countSessions(db: Queryable, realmId: string): Promise<readonly SessionCount[]> {
  const { rows } = await db.query<{ id: string; client_id: string; active: number; offline: number }>(
    `select c.id, c.client_id, (count(distinct s.id) filter (where not s.offline))::int as active,
       (count(distinct s.id) filter (where s.offline))::int as offline
     from user_session s join client_session cs on cs.session_id = s.id join client c on c.id = cs.client
     where s.realm_id = $1 and s.expires_at > now() group by c.id, c.client_id order by c.client_id`,
    [realmId],
  );
  return rows.map(({ client_id: clientId, ...row }) => ({ ...row, clientId }));
}

/** Ends every session of a realm and gives the users who had one. */
export async function endAllSessions(
  db: Queryable,
  realm: { readonly id: string; readonly name: string },
): Promise<readonly string[]> {
  await db.query("delete from oidc_record where realm_id = $1 and model = 'Session'", [realm.id]);
  const { rows } = await db.query<{ user_id: string }>(
    "with ended as (delete from user_session where realm_id = $1 returning user_id) select distinct user_id from ended",
    [realm.id],
  );
  for (const { user_id: sub } of rows) {
    await publishChange(db, { kind: "user", realm: realm.name, sub });
  }
  return rows.map(({ user_id: id }) => id);
}

/** @param token with `exp` in seconds, as in its claims */
export async function revokeAccessToken(
  db: Queryable,
  realm: { readonly name: string },
  { jti, exp }: { readonly jti: string; readonly exp: number },
): Promise<void> {
  await db.query("insert into revoked_token (jti, expires_at) values ($1, $2) on conflict do nothing", [
    jti,
    new Date(exp * 1000),
  ]);
  await publishChange(db, { kind: "token", realm: realm.name, jti });
}

export async function isAccessTokenRevoked(db: Queryable, jti: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "is-access-token-revoked",
    text: "select 1 from revoked_token where jti = $1",
    values: [jti],
  });
  return rowCount === 1;
}
