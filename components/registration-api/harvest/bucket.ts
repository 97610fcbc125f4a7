import type { TaskContext } from "../queue/run-task.ts";
import { type Tools, readRights } from "../registrars/registrar-context.ts";
import type { Harvester } from "../store/harvesters.ts";
import { addTask } from "../store/tasks.ts";

/** Files that stand for something that can be registered. */
const SCENE = /\.(?:tiff?|jp2)$|\/manifest\.safe$|\/xfdumanifest\.xml$|_MTL\.txt$/i;
const STAC = /\.json$/i;
/** Rasters inside products, and side files, are not registered by themselves. */
const INSIDE = /\.(?:SAFE|SEN3)\/.+\.(?:tiff?|jp2|json)$|_MTL\.json$|\/\.|_(?:SR|ST|QA)_?\w*\.TIF$/i;
/** Tasks of one run; what is more comes with the next one. */
const MAX_CHANGES = 5000;

/**
 * Compares a bucket with what it held at the last run, and has what is new or changed registered, what is gone taken out. Each change is a task
 * of its own, so that one that fails holds no other up.
 */
export async function runBucket(tools: Tools, context: TaskContext, harvester: Harvester): Promise<void> {
  const { pool, sources } = tools;
  const { task, signal } = context;
  const { name, scope, config } = harvester;
  const url = sources.normalize(config.resource.url);
  const bucket = /^s3:\/\/([^/]+)/.exec(url)?.[0] ?? url;
  const { rows } = await pool.query<{ key: string; etag: string }>(
    "select key, etag from watched_object where scope = $1 and harvester = $2",
    [scope, name],
  );
  const known = new Map(rows.map(({ key, etag }) => [key, etag]));
  const seen = new Set<string>();
  let changes = 0;
  const note = async (key: string, etag: string | undefined): Promise<void> => {
    const client = await pool.connect();
    try {
      await client.query("begin");
      const address = `${bucket}/${key}`;
      await addTask(client, {
        kind: etag === undefined ? "deregister" : "stac",
        scope,
        orderKey: `url ${address}`,
        payload:
          etag === undefined
            ? { url: address }
            : {
                type: "stac-item",
                url: address,
                parent_identifier: config.collection ?? null,
                ...(task.payload["buckets"] !== undefined && { buckets: task.payload["buckets"] }),
              },
        requestedBy: `harvester ${name}`,
      });
      await (etag === undefined
        ? client.query("delete from watched_object where scope = $1 and harvester = $2 and key = $3", [
            scope,
            name,
            key,
          ])
        : client.query(
            `insert into watched_object (scope, harvester, key, etag, seen) values ($1, $2, $3, $4, $5)
             on conflict (scope, harvester, key) do update set etag = excluded.etag, seen = excluded.seen`,
            [scope, name, key, etag, task.id],
          ));
      await client.query("commit");
    } catch (error) {
      await client.query("rollback").catch(() => {});
      throw error;
    } finally {
      client.release();
    }
    context.count(etag === undefined ? { removed: 1 } : { registered: 1 });
    changes += 1;
  };
  for await (const { key, etag } of sources.list(url, { rights: readRights(task.payload), signal })) {
    if (INSIDE.test(key) || !(SCENE.test(key) || STAC.test(key))) {
      continue;
    }
    seen.add(key);
    if (known.get(key) !== etag && changes < MAX_CHANGES) {
      await note(key, etag);
    }
  }
  for (const key of known.keys()) {
    if (!seen.has(key) && changes < MAX_CHANGES) {
      await note(key, undefined);
    }
  }
}
