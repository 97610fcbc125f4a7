import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { type Listener, type PooledDatabase, openListener, openPool } from "@swath/postgres/pool";
import type { Logger } from "@swath/service";

import { type Ended, MAX_LIFE } from "./revocations.ts";

/** Tells the other replicas which logins have ended. */
export interface SharedLogouts {
  /** Resolves when it is written down, and so will reach every replica, also one that starts later. */
  readonly tell: (ended: Ended) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface SharedLogoutsOptions {
  readonly url: string;
  /** A login that ended at any replica; those before the start, too. */
  readonly onEnded: (ended: Ended) => void;
  readonly logger: Logger;
}

interface EndedRow {
  session_id: string | null;
  user_id: string | null;
  token: string | null;
  at: number;
}

const CHANNEL = "gatekeeper_logout";
/** Milliseconds that somebody who tells of a logout waits for a database that is not there yet. */
const MAX_WAIT = 10_000;

/** Requests are checked while the database is away; what was told meanwhile is read when it is back. */
export function shareLogouts({ url, onEnded, logger }: SharedLogoutsOptions): SharedLogouts {
  const onError = (err: Error) => logger.warn({ err }, "logouts are not shared with other replicas");
  let listener: Listener | undefined;
  let opened: PooledDatabase | undefined;
  let closed = false;
  const read = async (database: PooledDatabase): Promise<void> => {
    const { rows } = await database.pool.query<EndedRow>(
      `select session_id, user_id, token, extract(epoch from ended_at)::float8 * 1000 as at from ended_login
       where ended_at > now() - $1 * interval '1 millisecond' order by ended_at`,
      [MAX_LIFE],
    );
    rows.forEach((row) =>
      onEnded({
        sessionId: row.session_id ?? undefined,
        userId: row.user_id ?? undefined,
        tokenHash: row.token ?? undefined,
        at: Math.round(row.at),
      }),
    );
  };
  const opening = openPool({
    url,
    schema: "gatekeeper",
    migrations: join(import.meta.dirname, "../migrations"),
    connections: 2,
    onError,
    // The only way to give up waiting.
    onUnavailable: () => {
      if (closed) {
        throw new Error("the gatekeeper ends");
      }
    },
  }).then(async (database) => {
    opened = database;
    listener = await openListener({
      url,
      channel: CHANNEL,
      onMessage: (payload) => onEnded(JSON.parse(payload) as Ended),
      // Some may have been missed.
      onConnect: () => void read(database).catch(onError),
      onError,
    });
    return database;
  });
  opening.catch((err: unknown) => {
    if (!closed) {
      logger.error({ err }, "logouts cannot be shared with other replicas");
    }
  });
  return {
    tell: async (ended) => {
      const database = await Promise.race([opening, sleep(MAX_WAIT, undefined, { ref: false })]);
      if (database === undefined) {
        throw new Error("the database cannot be reached");
      }
      await database.pool.query(
        `with old as (delete from ended_login where ended_at <= now() - $5 * interval '1 millisecond'),
           new as (insert into ended_login (session_id, user_id, token, ended_at)
             values ($1, $2, $3, to_timestamp($4::float8 / 1000)))
         select pg_notify('${CHANNEL}', $6)`,
        [
          ended.sessionId ?? null,
          ended.userId ?? null,
          ended.tokenHash ?? null,
          ended.at,
          MAX_LIFE,
          JSON.stringify(ended),
        ],
      );
    },
    close: async () => {
      closed = true;
      await listener?.close();
      await opened?.close();
    },
  };
}
