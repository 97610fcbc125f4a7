import { createBackOff, createQueue } from "@swath/work";

import type { BlobStore } from "../blobs/blob-store.ts";
import type { RegistryDatabase } from "../store/database.ts";
import { discard, unlinkUnused } from "../store/links.ts";
import { deleteStaleUploads } from "../store/uploads.ts";

export interface CollectOptions {
  readonly database: RegistryDatabase;
  readonly blobs: BlobStore;
  /** Seconds that an upload may rest. */
  readonly uploadSeconds: number;
  readonly onError: (error: unknown) => void;
}

const BATCH = 200;
const PARALLEL_DELETIONS = 8;
const backOff = createBackOff({ firstSeconds: 5, maxSeconds: 600 });

/**
 * Gives back what is not used any more. Nothing is scanned: indexes lead to expired pins, stale uploads, blobs with no references and
 * content to delete. Every step is a transaction of its own that any replica may take, and that a crash repeats.
 */
export async function collect(options: CollectOptions): Promise<void> {
  const { database, uploadSeconds } = options;
  await drain(() => releaseExpiredPins(database));
  await drain(() =>
    database.transact(async (tx) => {
      const ids = await deleteStaleUploads(tx, uploadSeconds);
      await discard(tx, ids);
      return ids.length;
    }),
  );
  await drain(() => discardUnusedBlobs(database));
  await drain(() => deleteDiscarded(options));
}

async function drain(step: () => Promise<number>): Promise<void> {
  while ((await step()) > 0) {
    // The next batch.
  }
}

/** Pushes that never came to their manifest leave their blobs behind. */
function releaseExpiredPins(database: RegistryDatabase): Promise<number> {
  return database.transact(async (tx) => {
    const [first] = await tx.query<{ repository_id: string; project_id: string }>(
      `select p.repository_id, r.project_id from pin p join repository r on r.id = p.repository_id
       where p.until <= now() order by p.until limit 1`,
    );
    if (first === undefined) {
      return 0;
    }
    // As every other change of what is in a project, so that nobody waits for each other.
    await tx.query("select from project where id = $1 for update", [first.project_id]);
    const rows = await tx.query<{ digest: string }>(
      `delete from pin where (repository_id, digest, holder) in (
         select repository_id, digest, holder from pin where repository_id = $1 and until <= now() limit ${BATCH})
       returning digest`,
      [first.repository_id],
    );
    await unlinkUnused(tx, first.repository_id, [...new Set(rows.map(({ digest }) => digest))]);
    return 1;
  });
}

/** Blobs that no repository has. Whoever links one at this moment holds its row, and it is passed over. */
function discardUnusedBlobs(database: RegistryDatabase): Promise<number> {
  return database.transact(async (tx) => {
    const rows = await tx.query<{ storage_id: string }>(
      `delete from blob where digest in (
         select digest from blob where refs = 0 order by digest limit ${BATCH} for update skip locked)
       returning storage_id`,
    );
    await discard(
      tx,
      rows.map(({ storage_id }) => storage_id),
    );
    return rows.length;
  });
}

/** Content that no blob has. What a replica has taken and not deleted by the end of the lease, another one takes. */
const discardedQueue = createQueue<{ readonly storage_id: string; readonly attempts: number }>({
  table: "discarded",
  key: ["storage_id"],
  isOpen: "true",
  leaseSeconds: 30,
});

/** Deletes content, then forgets it: a crash in between deletes it once more, soon; only a failure is waited for longer each time. */
async function deleteDiscarded({ database, blobs, onError }: CollectOptions): Promise<number> {
  const claims = await discardedQueue.claim(database.pool, BATCH);
  const queue = [...claims];
  const deleted: string[] = [];
  const work = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const { storage_id: id, attempts } = next.row;
      try {
        await blobs.remove(id);
        deleted.push(id);
      } catch (error) {
        // It is tried again later; the rest need not wait for it.
        onError(error);
        await next.lease.end("attempts = attempts + 1, next_at = now() + make_interval(secs => $1)", [
          backOff(attempts + 1),
        ]);
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_DELETIONS }, work));
  if (deleted.length > 0) {
    await database.query("delete from discarded where storage_id = any($1)", [deleted]);
  }
  return claims.length;
}
