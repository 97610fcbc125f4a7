import { openListener } from "@swath/postgres";
import type { Logger } from "@swath/service";
import type { Kysely } from "kysely";

import type { AdesSettings } from "../execution/storage.ts";
import {
  DELIVERY_CHANNEL,
  type Delivery,
  claimDelivery,
  endDelivery,
  postponeDelivery,
  untilNextDelivery,
} from "../store/deliveries.ts";
import type { Tables } from "../store/tables.ts";
import { registerResults } from "./register-results.ts";
import { RefusedForGoodError, createCallbackSender } from "./send-callback.ts";

interface DeliveryOptions {
  readonly db: Kysely<Tables>;
  readonly settings: AdesSettings;
  readonly logger: Logger;
}

/** A new delivery is told at once; this is for what was told while nobody listened. */
const MAX_SLEEP = 30_000;
/** Deliveries at the same time: one slow subscriber must not hold up the others. */
const PARALLEL = 4;

/**
 * Tells subscribers of jobs and registers results, each at least once, again after a while where it failed. What is to be told is
 * in the database, so that it outlives this process.
 */
export async function startDeliveries({
  db,
  settings,
  logger,
}: DeliveryOptions): Promise<{ stop: () => Promise<void> }> {
  const sender = createCallbackSender(settings);
  const running = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const deliver = async (delivery: Delivery): Promise<void> => {
    const job = await db.selectFrom("job").selectAll().where("id", "=", delivery.job).executeTakeFirst();
    if (job === undefined) {
      return;
    }
    if (delivery.kind === "in-progress" && job.finished_at !== null) {
      // Who is told now that it runs would be told after its end.
      await endDelivery(db, delivery.id, "given-up", "the job ended first");
      return;
    }
    try {
      if (delivery.kind === "registration") {
        const target = await registerResults(settings, job);
        await endDelivery(db, delivery.id, "delivered", undefined, target);
        return;
      }
      await sender.send(delivery, job);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.info({ job: job.id, kind: delivery.kind, attempts: delivery.attempts, reason }, "could not deliver");
      await (error instanceof RefusedForGoodError
        ? endDelivery(db, delivery.id, "given-up", reason)
        : postponeDelivery(db, delivery, reason));
      return;
    }
    await endDelivery(db, delivery.id, "delivered");
  };
  const pump = async (): Promise<void> => {
    clearTimeout(timer);
    while (!stopped && running.size < PARALLEL) {
      const delivery = await claimDelivery(db);
      if (delivery === undefined) {
        break;
      }
      const work: Promise<void> = deliver(delivery)
        .catch((error: unknown) => logger.warn({ err: error, job: delivery.job }, "could not note a delivery"))
        .finally(() => {
          running.delete(work);
          wake();
        });
      running.add(work);
    }
    if (!stopped) {
      const pause = Math.min(Math.max((await untilNextDelivery(db)) ?? MAX_SLEEP, 100), MAX_SLEEP);
      timer = setTimeout(wake, pause);
    }
  };
  // One after another, so that two are not looking at once.
  let last = Promise.resolve();
  const wake = (): void => {
    last = last.then(pump).catch((error: unknown) => {
      logger.warn({ err: error }, "cannot look for deliveries; trying again");
      timer = setTimeout(wake, 1000);
    });
  };
  const listener = await openListener({
    url: settings.DATABASE_URL,
    channel: DELIVERY_CHANNEL,
    onMessage: wake,
    onConnect: wake,
    onError: (error) => logger.warn({ err: error }, "lost the connection that deliveries are told on"),
  });
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await listener.close();
      await last;
      clearTimeout(timer);
      await Promise.allSettled(running);
      await sender.close();
    },
  };
}
