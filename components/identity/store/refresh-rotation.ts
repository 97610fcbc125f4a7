import { randomUUID } from "node:crypto";

import type { RealmSettings } from "../realm-settings.ts";
import type { Queryable } from "./database.ts";
import { USER_COLUMNS, type User, type UserAccess, type UserRow, toUser } from "./users.ts";

export interface RotatedGrant {
  readonly user: User;
  readonly access: UserAccess;
  readonly scope: string;
  readonly nonce: string | undefined;
  readonly authTime: Date;
  readonly offline: boolean;
  /** The refresh token that is good from now on. */
  readonly refreshId: string;
  readonly chain: string;
  /** Seconds until the session ends when nobody uses it. */
  readonly secondsLeft: number;
}

interface RotationRow extends UserRow {
  place: string;
  access: Omit<UserAccess, "readAt">;
  scope: string;
  nonce: string | null;
  auth_time: Date;
  offline: boolean;
  refresh_id: string;
  chain: string;
  seconds_left: number;
}

interface ChainOfClient {
  readonly sessionId: string;
  readonly client: string;
  /** Left out by tokens that are older than chains. */
  readonly chain?: string | undefined;
}

/** A refresh token that somebody showed. */
export interface ShownRefresh extends ChainOfClient {
  readonly refreshId: string;
}

export type RotationSettings = Pick<
  RealmSettings,
  "ssoSessionIdleTimeout" | "offlineSessionIdleTimeout" | "refreshTokenReuseInterval"
>;

export interface Rotation {
  readonly shown: ShownRefresh;
  readonly settings: RotationSettings;
}

/** Seconds before a start of the service in which an exchange may have been answered to nobody. */
const MAX_AWAY = 60;

/**
 * Exchanges refresh tokens of different sessions, in one statement and one commit: of two at once with the same token the second gets
 * what the first got, as long as the reuse interval lasts. A service that died may have exchanged a token and not told: for exchanges
 * of its last minute the interval begins when its successor has started, so that nobody is logged out by that. By place of the
 * answer undefined when a token is not good; {@link explainRefusal} says why.
 *
 * @param onLocked what to do about a session that somebody else is changing: wait, or leave it out. Who waits for several may wait in a circle.
 */
export async function rotateRefreshTokens(
  db: Queryable,
  rotations: readonly Rotation[],
  startedAt: Date,
  onLocked: "wait" | "skip",
): Promise<readonly (RotatedGrant | undefined)[]> {
  const readAt = Date.now();
  const column = <Value>(of: (rotation: Rotation) => Value) => rotations.map(of);
  const { rows } = await db.query<RotationRow>({
    name: `rotate-refresh-tokens-${onLocked}`,
    text: STATEMENTS[onLocked],
    values: [
      column(({ shown }) => shown.sessionId),
      column(({ shown }) => shown.client),
      column(({ shown }) => shown.refreshId),
      column(({ shown }) => shown.chain ?? null),
      column(() => randomUUID()),
      column(({ settings }) => settings.ssoSessionIdleTimeout),
      column(({ settings }) => settings.offlineSessionIdleTimeout),
      column(({ settings }) => settings.refreshTokenReuseInterval),
      startedAt,
    ],
  });
  const granted = new Map(rows.map((row) => [Number(row.place), toGrant(row, readAt)]));
  return rotations.map((_, index) => granted.get(index + 1));
}

const STATEMENTS = { wait: writeStatement(""), skip: writeStatement("skip locked") } as const;

function writeStatement(onLocked: string): string {
  return `with good as (
      select a.*, c.chain as found
      from unnest($1::text[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::float8[], $7::float8[], $8::float8[])
          with ordinality as a (session_id, client, shown, chain, next, idle, offline_idle, reuse, place)
        join client_session c on c.session_id = a.session_id and c.client = a.client and (a.chain is null or c.chain = a.chain)
        join user_session s on s.id = c.session_id and s.expires_at > now()
        join app_user u on u.id = s.user_id and u.enabled
      where c.refresh_id = a.shown or (c.previous_id = a.shown and now() - a.reuse * interval '1 second' <
        case when c.rotated_at between $9::timestamptz - interval '${MAX_AWAY} seconds' and $9
          then $9 else c.rotated_at end)
      for update of c, s ${onLocked}),
    s as (
      update user_session s set last_access = now(), expires_at = least(s.ends_at,
        now() + (case when s.offline then good.offline_idle else good.idle end) * interval '1 second')
      from good where s.id = good.session_id returning s.id, s.user_id, s.offline, s.expires_at)
    update client_session c set
      previous_id = case when c.refresh_id = good.shown then c.refresh_id else c.previous_id end,
      refresh_id = case when c.refresh_id = good.shown then good.next else c.refresh_id end,
      rotated_at = case when c.refresh_id = good.shown then now() else c.rotated_at end
    from good join s on s.id = good.session_id join app_user u on u.id = s.user_id
    where c.session_id = good.session_id and c.client = good.client and c.chain = good.found
    returning good.place, c.scope, c.nonce, c.auth_time, c.refresh_id, c.chain, s.offline, user_access(u.id) as access,
      extract(epoch from s.expires_at - now())::float8 as seconds_left, ${USER_COLUMNS}`;
}

function toGrant(row: RotationRow, readAt: number): RotatedGrant {
  return {
    user: toUser(row),
    access: { ...row.access, readAt },
    scope: row.scope,
    nonce: row.nonce ?? undefined,
    authTime: row.auth_time,
    offline: row.offline,
    refreshId: row.refresh_id,
    chain: row.chain,
    secondsLeft: Math.floor(row.seconds_left),
  };
}

/** Why a refresh token is not good. `reused`: it was exchanged before, so somebody has a copy. */
export async function explainRefusal(
  db: Queryable,
  { sessionId, client, chain }: ChainOfClient,
): Promise<"ended" | "disabled" | "reused"> {
  const { rows } = await db.query<{ enabled: boolean }>(
    `select u.enabled from user_session s join client_session c on c.session_id = s.id and c.client = $2
       and ($3::uuid is null or c.chain = $3)
     join app_user u on u.id = s.user_id where s.id = $1 and s.expires_at > now()`,
    [sessionId, client, chain ?? null],
  );
  const row = rows[0];
  return row === undefined ? "ended" : row.enabled ? "reused" : "disabled";
}
