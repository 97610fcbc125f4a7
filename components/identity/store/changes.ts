import { EventEmitter } from "node:events";

import pg from "pg";

import type { Queryable } from "./database.ts";

/**
 * What replicas tell each other, and what the gatekeeper hears of. `realm`: settings or keys. `client`: a client's record.
 * `policy`: a client's rules, or all of the realm's. `user`: disabled, deleted, or with other roles. `session`: ended.
 */
export type Change =
  | { readonly kind: "realm"; readonly realm: string; readonly keys?: true }
  | { readonly kind: "client"; readonly realm: string; readonly clientId: string }
  | { readonly kind: "policy"; readonly realm: string; readonly clientId?: string }
  | { readonly kind: "user"; readonly realm: string; readonly sub: string }
  | { readonly kind: "session"; readonly realm: string; readonly sid: string };

const CHANNEL = "identity_change";

/** Tells everybody, when the transaction commits. */
export async function announce(db: Queryable, change: Change): Promise<void> {
  await db.query("select pg_notify($1, $2)", [CHANNEL, JSON.stringify(change)]);
}

export interface ChangeFeed {
  /** `change` for each change; `lost` when some may have been missed and every cache must be dropped. */
  readonly events: EventEmitter<{ change: [Change]; lost: [] }>;
  readonly isConnected: () => boolean;
  readonly close: () => Promise<void>;
}

/** Listens to all replicas. A broken connection is opened again; `lost` then says that caches may be stale. */
export async function openChangeFeed(url: string, onError: (error: Error) => void): Promise<ChangeFeed> {
  const events = new EventEmitter<{ change: [Change]; lost: [] }>();
  events.setMaxListeners(0);
  let client: pg.Client | undefined;
  let closed = false;
  let connected = false;
  let retry: NodeJS.Timeout | undefined;

  const connect = async () => {
    const next = new pg.Client({ connectionString: url, keepAlive: true });
    client = next;
    const broke = (error?: Error) => {
      if (client !== next || closed) {
        return;
      }
      connected = false;
      client = undefined;
      events.emit("lost");
      if (error !== undefined) {
        onError(error);
      }
      next.end().catch(() => {});
      retry = setTimeout(() => void connect().catch(broke), 250);
    };
    next.on("error", broke);
    next.on("end", () => broke());
    next.on("notification", ({ payload }) => events.emit("change", JSON.parse(payload ?? "{}") as Change));
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
    } catch (error) {
      broke(error as Error);
      return;
    }
    connected = true;
    events.emit("lost");
  };
  await connect();
  return {
    events,
    isConnected: () => connected,
    close: async () => {
      closed = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}
