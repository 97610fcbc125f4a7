import { startWorker } from "../background/worker.ts";
import type { RegistryDatabase } from "../store/database.ts";
import { claimDelivery, deleteOldDeliveries, noteDelivery } from "../store/webhooks.ts";
import type { WebhookSender } from "./send-webhook.ts";

interface DeliverOptions {
  readonly database: RegistryDatabase;
  readonly databaseUrl: string;
  readonly sender: WebhookSender;
  readonly onError: (error: unknown) => void;
}

const LOOK_MS = 5000;
/** One slow receiver must not hold up the others. */
const PARALLEL = 4;

/** Delivers webhooks, each at least once, and again after a while where it failed. */
export async function startDeliveries({
  database,
  databaseUrl,
  sender,
  onError,
}: DeliverOptions): Promise<{ readonly stop: () => Promise<void> }> {
  let isStopped = false;
  const deliverOne = async () => {
    for (let found = await claimDelivery(database); found !== undefined && !isStopped;) {
      await noteDelivery(database, found, await sender.send(found));
      found = await claimDelivery(database);
    }
  };
  const worker = await startWorker({
    databaseUrl,
    channel: "registry_webhooks",
    everyMs: LOOK_MS,
    onError,
    work: async () => {
      await Promise.all(Array.from({ length: PARALLEL }, () => deliverOne().catch(onError)));
      await deleteOldDeliveries(database);
    },
  });
  return {
    stop: async () => {
      isStopped = true;
      await worker.stop();
      await sender.close();
    },
  };
}
