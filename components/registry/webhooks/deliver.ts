import { openListener } from "@swath/postgres";

import type { RegistryDatabase } from "../store/database.ts";
import { claimDelivery, deleteOldDeliveries, noteDelivery } from "../store/webhooks.ts";
import type { WebhookSender } from "./send-webhook.ts";

interface DeliverOptions {
  readonly database: RegistryDatabase;
  readonly databaseUrl: string;
  readonly sender: WebhookSender;
  readonly onError: (error: unknown) => void;
}

/** For what comes due, or was told while nobody listened. */
const LOOK_MS = 5000;
/** One slow receiver must not hold up the others. */
const PARALLEL = 4;

/** Delivers webhooks, each at least once, and again after a while where it failed. */
export async function startDeliveries(options: DeliverOptions): Promise<{ readonly stop: () => Promise<void> }> {
  const { database, sender, onError } = options;
  let isStopped = false;
  let work: Promise<unknown> | undefined;
  let isWanted = false;
  const deliverOne = async () => {
    for (let found = await claimDelivery(database); found !== undefined && !isStopped;) {
      await noteDelivery(database, found, await sender.send(found));
      found = await claimDelivery(database);
    }
  };
  const run = async () => {
    do {
      isWanted = false;
      await Promise.all(Array.from({ length: PARALLEL }, () => deliverOne().catch(onError)));
      await deleteOldDeliveries(database).catch(onError);
    } while (isWanted && !isStopped);
    work = undefined;
  };
  const wake = () => {
    isWanted = true;
    if (!isStopped) {
      work ??= run();
    }
  };
  const timer = setInterval(wake, LOOK_MS);
  const listener = await openListener({
    url: options.databaseUrl,
    channel: "registry_webhooks",
    onMessage: wake,
    onConnect: wake,
    onError,
  });
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await listener.close();
      await work;
      await sender.close();
    },
  };
}
