import { inTransaction } from "@swath/postgres/pool";

import type { TaskContext } from "../queue/run-task.ts";
import { type Tools, readRights } from "../registrars/registrar-context.ts";
import type { Harvester } from "../store/harvesters.ts";
import { noteObject, setWatched } from "../store/watched-objects.ts";
import { parseS3Href } from "../sources/sources.ts";
import { toSceneKey } from "./scene-keys.ts";

/** Changes of one run; what is more comes with the next one. */
const MAX_CHANGES = 5000;

/**
 * Compares a bucket with what it held at the last run, and has what is new or changed registered, what is gone taken out. Each change is a task
 * of its own, so that one that fails holds no other up. A bucket of the deployment tells of its changes from then on.
 */
export async function runBucket(tools: Tools, context: TaskContext, harvester: Harvester): Promise<void> {
  const { pool, sources } = tools;
  const { task, signal } = context;
  const { name, scope, config } = harvester;
  const url = sources.normalize(config.resource.url);
  const { bucket } = parseS3Href(url);
  const rights = readRights(task.payload);
  // Before it is listed: what comes in between is told.
  const isTold = await sources.watch(url, { rights, signal });
  await setWatched(pool, harvester, isTold ? url : undefined);
  const { rows } = await pool.query<{ key: string; etag: string }>(
    "select key, etag from watched_object where scope = $1 and harvester = $2",
    [scope, name],
  );
  const known = new Map(rows.map(({ key, etag }) => [key, etag]));
  const seen = new Set<string>();
  let changes = 0;
  const note = async (key: string, etag: string | undefined): Promise<void> => {
    const isNews = await inTransaction(pool, (db) =>
      noteObject(db, harvester, { bucket, key, ...(etag !== undefined && { etag }) }, rights.buckets),
    );
    if (isNews) {
      context.count(etag === undefined ? { removed: 1 } : { registered: 1 });
      changes += 1;
    }
  };
  for await (const { key, etag } of sources.list(url, { rights, signal })) {
    const scene = toSceneKey(key);
    if (scene === undefined) {
      continue;
    }
    seen.add(key);
    if (scene.isMain && known.get(key) !== etag && changes < MAX_CHANGES) {
      await note(key, etag);
    }
  }
  for (const key of known.keys()) {
    if (!seen.has(key) && changes < MAX_CHANGES) {
      await note(key, undefined);
    }
  }
}
