import { type Claim, createBackOff, createQueue } from "@swath/work";

import type { Queryable } from "./database.ts";

/** A client that is to be told of a session that has ended; the database notes it when the session is deleted. */
export interface LogoutNotice {
  readonly id: string;
  readonly realm: string;
  readonly clientId: string;
  readonly sessionId: string;
  readonly userId: string;
  /** This one included. */
  readonly attempts: number;
}

/** A notice of a process that died is another one's after this. */
const LEASE_SECONDS = 30;
export const RENEW_MS = 10_000;
const backOff = createBackOff({ firstSeconds: 2, maxSeconds: 3600 });

/** Notices that a client has not heard yet. They expire after an hour. */
export const logoutNoticeQueue = createQueue<LogoutNotice>({
  table: "logout_notice",
  key: ["id"],
  isOpen: "q.expires_at > now() and exists (select from client k where k.id = q.client)",
  leaseSeconds: LEASE_SECONDS,
  onClaim: "attempts = q.attempts + 1",
  join: { from: "client c, realm r", on: "c.id = q.client and r.id = q.realm_id" },
  returning: `q.id, r.name as realm, c.client_id as "clientId", q.session_id as "sessionId", q.user_id as "userId", q.attempts`,
  prepared: "take-logout-notices",
});

/** Has a notice sent again after a while. */
export async function postponeLogoutNotice({ row: { attempts }, lease }: Claim<LogoutNotice>): Promise<void> {
  await lease.end("next_at = now() + make_interval(secs => $1)", [backOff(attempts)]);
}

export async function deleteLogoutNotice(db: Queryable, id: string): Promise<void> {
  await db.query("delete from logout_notice where id = $1", [id]);
}

/** Attributes of the clients that hold tokens of a session, which say where their pages end a login. */
export async function listFrontChannels(
  db: Queryable,
  realmId: string,
  sessionId: string,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const { rows } = await db.query<{ attributes: Record<string, string> }>(
    `select distinct on (c.id) c.settings -> 'attributes' as attributes
     from user_session u join client_session s on s.session_id = u.id join client c on c.id = s.client
     where u.realm_id = $1 and u.id = $2 and coalesce(c.settings -> 'attributes' ->> 'frontchannel.logout.url', '') <> ''
       and coalesce((c.settings ->> 'enabled')::boolean, true)`,
    [realmId, sessionId],
  );
  return rows.map(({ attributes }) => attributes);
}
