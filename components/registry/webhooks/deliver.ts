import { type Claim, type Loop, startLoop } from "@swath/work";

import type { RegistryDatabase } from "../store/database.ts";
import { type Delivery, RENEW_MS, deliveryQueue, noteDelivery } from "../store/webhooks.ts";
import type { WebhookSender } from "./send-webhook.ts";

interface DeliverOptions {
  readonly database: RegistryDatabase;
  readonly databaseUrl: string;
  readonly sender: WebhookSender;
  readonly onError: (error: unknown) => void;
}

/** One slow receiver must not hold up the others. */
const PARALLEL = 4;

/** Delivers webhooks, each at least once, and again after a while where it failed. */
export async function startDeliveries({ database, databaseUrl, sender, onError }: DeliverOptions): Promise<Loop> {
  const loop = await startLoop<Claim<Delivery>>({
    concurrency: PARALLEL,
    listen: { url: databaseUrl, channel: "registry_webhooks" },
    claim: ({ limit }) => deliveryQueue.claim(database.pool, limit),
    untilDue: () => deliveryQueue.untilDue(database.pool),
    renewMs: RENEW_MS,
    run: async (claim) => noteDelivery(claim, await sender.send(claim.row)),
    onError,
  });
  return {
    ...loop,
    stop: async () => {
      await loop.stop();
      await sender.close();
    },
  };
}
