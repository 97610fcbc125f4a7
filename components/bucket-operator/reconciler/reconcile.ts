import type { Logger } from "@swath/service";
import { type Claim, createBackOff } from "@swath/work";
import type { Kysely, Selectable } from "kysely";

import type { BucketSecrets } from "../kubernetes/secrets.ts";
import { type BucketStorage, StorageRefusal } from "../storage/bucket-storage.ts";
import { type Condition, finishDeletion, releaseBucket, saveMade, toBucket } from "../store/buckets.ts";
import type { Tables } from "../store/tables.ts";

export interface ReconcileDeps {
  readonly db: Kysely<Tables>;
  readonly storage: BucketStorage;
  /** Where keys are put as Kubernetes Secrets; undefined elsewhere. */
  readonly secrets: BucketSecrets | undefined;
  readonly logger: Logger;
  /** Seconds between looks at a bucket that is as it should be. */
  readonly interval: number;
  /** Told of each look's end: the Bucket resource shows it. */
  readonly onLooked?: (name: string) => Promise<void>;
}

const MAX_LOOK_MS = 240_000;
const backOff = createBackOff({ firstSeconds: 1, maxSeconds: 300 });

/** One look at a claimed bucket: it is brought to what is wanted, or taken away. Ends early when the lease is lost. */
export async function reconcile(
  deps: ReconcileDeps,
  { row, lease }: Claim<Selectable<Tables["bucket"]>>,
  lost: AbortSignal,
): Promise<void> {
  const { db, storage, secrets, logger, interval } = deps;
  const bucket = toBucket(row);
  const signal = AbortSignal.any([lost, AbortSignal.timeout(MAX_LOOK_MS)]);
  try {
    if (bucket.phase === "deleting") {
      await storage.remove(bucket, signal);
      await secrets?.remove(bucket);
      await finishDeletion(db, bucket);
      logger.info({ bucket: bucket.name, data: bucket.removal }, "deleted a bucket");
    } else {
      let { made } = bucket;
      await storage.apply(
        bucket,
        async (now) => {
          made = now;
          await saveMade(db, bucket.name, now);
        },
        signal,
      );
      await secrets?.put({ ...bucket, made });
      await releaseBucket(lease, bucket.generation, { condition: READY, nextIn: interval, attempts: 0 });
    }
  } catch (error) {
    const attempts = bucket.attempts + 1;
    const condition = toCondition(error);
    logger.warn({ bucket: bucket.name, attempts, reason: condition.reason, err: error }, "a bucket failed; retrying");
    await releaseBucket(lease, bucket.generation, { condition, nextIn: backOff(attempts), attempts });
  }
  await deps.onLooked?.(bucket.name);
}

const READY: Condition = { ready: true, reason: "Ready", message: "" };

function toCondition(error: unknown): Condition {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, 1000);
  return { ready: false, reason: error instanceof StorageRefusal ? error.reason : "StorageUnavailable", message };
}
