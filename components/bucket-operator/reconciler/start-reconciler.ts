import { type Claim, type Loop, type Queryable, startLoop } from "@swath/work";
import type { Selectable } from "kysely";

import { BUCKET_CHANNEL, RENEW_MS, bucketQueue } from "../store/buckets.ts";
import type { Tables } from "../store/tables.ts";
import { type ReconcileDeps, reconcile } from "./reconcile.ts";

interface ReconcilerOptions extends ReconcileDeps {
  readonly pool: Queryable;
  readonly databaseUrl: string;
  /** Buckets at once. */
  readonly concurrency: number;
}

/** Works on every bucket that is due. */
export function startReconciler(options: ReconcilerOptions): Promise<Loop> {
  const { pool, logger, concurrency, databaseUrl } = options;
  return startLoop<Claim<Selectable<Tables["bucket"]>>>({
    concurrency,
    listen: { url: databaseUrl, channel: BUCKET_CHANNEL },
    claim: ({ limit }) => bucketQueue.claim(pool, limit),
    untilDue: () => bucketQueue.untilDue(pool),
    renewMs: RENEW_MS,
    run: (claim, signal) => reconcile(options, claim, signal),
    onError: (err, claim) =>
      claim === undefined
        ? logger.warn({ err }, "cannot look for buckets; trying again")
        : logger.error({ bucket: claim.row.name, err }, "cannot reconcile a bucket"),
  });
}
