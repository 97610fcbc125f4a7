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

interface NoticeRow {
  id: string;
  realm: string;
  client_id: string;
  session_id: string;
  user_id: string;
  attempts: number;
}

/** Seconds after which a notice is tried again, doubled each time. */
const INITIAL_BACKOFF = 2;
const AT_ONCE = 20;

/** Takes notices that are due, each on one replica; those that nobody removes come again later. */
export async function takeLogoutNotices(db: Queryable): Promise<readonly LogoutNotice[]> {
  const { rows } = await db.query<NoticeRow>({
    name: "take-logout-notices",
    text: `with due as (
        select n.id, c.client_id, r.name as realm
        from logout_notice n join client c on c.id = n.client join realm r on r.id = n.realm_id
        where n.next_at <= now() and n.expires_at > now()
        order by n.next_at limit ${AT_ONCE} for update of n skip locked)
      update logout_notice n set attempts = n.attempts + 1,
        next_at = now() + ${INITIAL_BACKOFF} * pow(2, n.attempts) * interval '1 second'
      from due where n.id = due.id
      returning n.id, due.realm, due.client_id, n.session_id, n.user_id, n.attempts`,
  });
  return rows.map(({ client_id: clientId, session_id: sessionId, user_id: userId, ...row }) => ({
    ...row,
    clientId,
    sessionId,
    userId,
  }));
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
