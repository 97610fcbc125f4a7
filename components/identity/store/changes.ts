import { EventEmitter } from "node:events";

import { openListener } from "@swath/postgres";

import type { Queryable } from "./database.ts";

/**
 * What replicas tell each other, and what the gatekeeper hears of. `realm`: settings or keys. `client`: a client's record.
 * `policy`: a client's rules, or all of the realm's. `user`: disabled, deleted, or with other roles. `session`: ended.
 * `token`: one access token was revoked.
 */
export type Change =
  | { readonly kind: "realm"; readonly realm: string; readonly keys?: true }
  | { readonly kind: "client"; readonly realm: string; readonly clientId: string }
  | { readonly kind: "policy"; readonly realm: string; readonly clientId?: string }
  | { readonly kind: "user"; readonly realm: string; readonly sub: string }
  | { readonly kind: "session"; readonly realm: string; readonly sid: string }
  | { readonly kind: "token"; readonly realm: string; readonly jti: string };

const CHANNEL = "identity_change";

/** What was announced on a connection since it was last asked. */
const announced = new WeakMap<Queryable, Change[]>();

/** Tells everybody, when the transaction commits. */
export async function publishChange(db: Queryable, change: Change): Promise<void> {
  announced.set(db, [...(announced.get(db) ?? []), change]);
  await db.query("select pg_notify($1, $2)", [CHANNEL, JSON.stringify(change)]);
}

/**
 * The changes of the transaction that has just ended on this connection: who made them must see them at once, before the
 * database has told.
 */
export function drainPublished(db: Queryable): readonly Change[] {
  const changes = announced.get(db) ?? [];
  announced.delete(db);
  return changes;
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
  const listener = await openListener({
    url,
    channel: CHANNEL,
    onMessage: (payload) => events.emit("change", JSON.parse(payload) as Change),
    onConnect: () => events.emit("lost"),
    onError: (error) => {
      events.emit("lost");
      onError(error);
    },
  });
  return { events, isConnected: listener.isConnected, close: listener.close };
}
