import type { Logger } from "@swath/service";
import { type Claim, type Loop, type Queryable, startLoop } from "@swath/work";
import type { Kysely } from "kysely";

import type { AdesSettings } from "../execution/storage.ts";
import {
  DELIVERY_CHANNEL,
  type Delivery,
  RENEW_MS,
  deliveryQueue,
  endDelivery,
  postponeDelivery,
} from "../store/deliveries.ts";
import type { Tables } from "../store/tables.ts";
import { registerResults } from "./register-results.ts";
import { RefusedForGoodError, createCallbackSender } from "./send-callback.ts";

interface DeliveryOptions {
  readonly db: Kysely<Tables>;
  readonly pool: Queryable;
  readonly settings: AdesSettings;
  readonly logger: Logger;
}

/** A new delivery is told at once; this is for what was told while nobody listened. */
const MAX_SLEEP_MS = 30_000;
/** Deliveries at the same time: one slow subscriber must not hold up the others. */
const PARALLEL = 4;

/**
 * Tells subscribers of jobs and registers results, each at least once, again after a while where it failed. What is to be told is
 * in the database, so that it outlives this process.
 */
export async function startDeliveries({ db, pool, settings, logger }: DeliveryOptions): Promise<Loop> {
  const sender = createCallbackSender(settings);

  const deliver = async (claim: Claim<Delivery>): Promise<void> => {
    const { row: delivery } = claim;
    const job = await db.selectFrom("job").selectAll().where("id", "=", delivery.job).executeTakeFirst();
    if (job === undefined) {
      return;
    }
    if (delivery.kind === "in-progress" && job.finished_at !== null) {
      // Who is told now that it runs would be told after its end.
      await endDelivery(claim, "given-up", "the job ended first");
      return;
    }
    try {
      if (delivery.kind === "registration") {
        const target = await registerResults(settings, job);
        await endDelivery(claim, "delivered", undefined, target);
        return;
      }
      await sender.send(delivery, job);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.info({ job: job.id, kind: delivery.kind, attempts: delivery.attempts, reason }, "could not deliver");
      await (error instanceof RefusedForGoodError
        ? endDelivery(claim, "given-up", reason)
        : postponeDelivery(claim, reason));
      return;
    }
    await endDelivery(claim, "delivered");
  };
  const loop = await startLoop<Claim<Delivery>>({
    concurrency: PARALLEL,
    listen: { url: settings.DATABASE_URL, channel: DELIVERY_CHANNEL },
    claim: ({ limit }) => deliveryQueue.claim(pool, limit),
    untilDue: () => deliveryQueue.untilDue(pool),
    renewMs: RENEW_MS,
    maxSleepMs: MAX_SLEEP_MS,
    run: deliver,
    onError: (err, claim) =>
      claim === undefined
        ? logger.warn({ err }, "cannot look for deliveries; trying again")
        : logger.warn({ err, job: claim.row.job }, "could not note a delivery"),
  });
  return {
    ...loop,
    stop: async () => {
      await loop.stop();
      await sender.close();
    },
  };
}
