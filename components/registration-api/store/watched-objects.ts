import { inTransaction } from "@swath/postgres/pool";
import type pg from "pg";

import type { HarvesterConfig } from "../harvest/config.ts";
import { toSceneKey } from "../harvest/scene-keys.ts";
import { addTask } from "./tasks.ts";

type Db = Pick<pg.Pool, "query">;

/** A harvester that watches, as far as its objects need it. */
export interface Watcher {
  readonly scope: string;
  readonly name: string;
  readonly config: Pick<HarvesterConfig, "collection">;
}

/** A change of an object: put with an ETag, or gone. */
export interface ObjectChange {
  readonly bucket: string;
  readonly key: string;
  readonly etag?: string;
}

/**
 * Has what a change of an object means registered or taken out, once for each change: in the transaction of the caller's.
 * @returns whether that is news
 */
export async function noteObject(
  db: Db,
  { scope, name, config }: Watcher,
  { bucket, key, etag }: ObjectChange,
  buckets?: readonly string[],
): Promise<boolean> {
  const scene = toSceneKey(key);
  if (scene === undefined) {
    return false;
  }
  const { rowCount } =
    etag === undefined
      ? await db.query("delete from watched_object where scope = $1 and harvester = $2 and key = $3", [
          scope,
          name,
          key,
        ])
      : await db.query(
          `insert into watched_object as w (scope, harvester, key, etag, seen) values ($1, $2, $3, $4, 0)
           on conflict (scope, harvester, key) do update set etag = excluded.etag where w.etag <> excluded.etag`,
          [scope, name, key, etag],
        );
  if (rowCount === 0) {
    return false;
  }
  if (etag === undefined && !scene.isMain) {
    return true;
  }
  const url = `s3://${bucket}/${scene.path}`;
  const requestedBy = `harvester ${name}`;
  if (etag === undefined) {
    await addTask(db, { kind: "deregister", scope, orderKey: `url ${url}`, payload: { url }, requestedBy });
    return true;
  }
  // One that waits for its turn will see this change as well.
  const waiting = await db.query(
    "select from task where order_key = $1 and state = 'queued' and kind = 'stac' and requested_by = $2 for update skip locked",
    [`${scope} url ${url}`, requestedBy],
  );
  if (waiting.rowCount === 0) {
    const payload = {
      type: "stac-item",
      url,
      parent_identifier: config.collection ?? null,
      ...(buckets !== undefined && { buckets }),
    };
    await addTask(db, { kind: "stac", scope, orderKey: `url ${url}`, payload, requestedBy });
  } else {
    await db.query("update task set due_at = now() where order_key = $1 and state = 'queued'", [`${scope} url ${url}`]);
  }
  return true;
}

/** Notes where a harvester's bucket tells of changes; undefined: it does not. */
export async function setWatched(
  pool: pg.Pool,
  { scope, name }: Pick<Watcher, "scope" | "name">,
  address: string | undefined,
): Promise<void> {
  await pool.query("update harvester set watched = $3 where scope = $1 and name = $2 and watched is distinct from $3", [
    scope,
    name,
    address ?? null,
  ]);
}

/** Has the records of an address taken out when its object goes. */
export async function followSource(pool: pg.Pool, scope: string, address: string): Promise<void> {
  await pool.query("insert into followed_source (scope, address) values ($1, $2) on conflict do nothing", [
    scope,
    address,
  ]);
}

/** Takes over what a storage tells of its buckets: all of it or, where this throws, nothing. Repetitions change nothing. */
export async function applyObjectChanges(pool: pg.Pool, changes: readonly ObjectChange[]): Promise<void> {
  await inTransaction(pool, async (db) => {
    const { rows: watchers } = await db.query<Watcher & { watched: string }>(
      "select scope, name, config, watched from harvester where enabled and watched is not null",
    );
    for (const change of changes) {
      const address = `s3://${change.bucket}/${change.key}`;
      for (const watcher of watchers) {
        if (address.startsWith(watcher.watched)) {
          await noteObject(db, watcher, change);
        }
      }
      if (change.etag === undefined) {
        const { rows } = await db.query<{ scope: string }>(
          "delete from followed_source where address = $1 returning scope",
          [address],
        );
        for (const { scope } of rows) {
          await addTask(db, {
            kind: "deregister",
            scope,
            orderKey: `url ${address}`,
            payload: { url: address },
            requestedBy: "removal of its object",
          });
        }
      }
    }
  });
}
