import { createAddressGuard } from "@swath/addresses";
import { Agent, request } from "undici";

import type { Delivery } from "../store/webhooks.ts";

const SECONDS = 15;
const MAX_ANSWER_BYTES = 16_384;
/** It is gone for good; not worth another attempt. */
const GONE = 410;

/** Tells others what happened. Private addresses are refused, redirects are not followed. */
export interface WebhookSender {
  /** What came of it, in words. */
  readonly send: (delivery: Delivery) => Promise<{ isDelivered: boolean; said: string; isFinal: boolean }>;
  readonly close: () => Promise<void>;
}

export function createWebhookSender(allowPrivate: readonly string[]): WebhookSender {
  const guard = createAddressGuard({
    allowPrivate,
    refuse: (where, address) =>
      new Error(
        `${where} leads to ${address}, which is a private address; use a public one, or ask the operator to allow it`,
      ),
  });
  const createAgent = (rejectUnauthorized: boolean) =>
    new Agent({
      connections: 4,
      connect: { lookup: guard.lookup as never, timeout: SECONDS * 1000, rejectUnauthorized },
      headersTimeout: SECONDS * 1000,
      bodyTimeout: SECONDS * 1000,
    });
  const [verifying, trusting] = [createAgent(true), createAgent(false)];
  return {
    send: async ({ id, event, payload, address, authHeader, skipsVerification }) => {
      try {
        const { hostname, origin } = new URL(address);
        guard.checkHost(hostname, origin);
        const { statusCode, body } = await request(address, {
          method: "POST",
          dispatcher: skipsVerification ? trusting : verifying,
          headers: {
            "content-type": "application/json",
            "user-agent": "swath-registry",
            "x-registry-event": event,
            // The same for each attempt, so that a receiver can tell a repetition from something new.
            "idempotency-key": id,
            ...(authHeader !== null && { authorization: authHeader }),
          },
          body: JSON.stringify(payload),
          signal: AbortSignal.timeout(SECONDS * 1000),
        });
        await body.dump({ limit: MAX_ANSWER_BYTES });
        const isDelivered = statusCode >= 200 && statusCode <= 299;
        return { isDelivered, said: `the receiver answers ${statusCode}`, isFinal: statusCode === GONE };
      } catch (error) {
        return { isDelivered: false, said: error instanceof Error ? error.message : String(error), isFinal: false };
      }
    },
    close: async () => {
      await Promise.all([verifying.close(), trusting.close()]);
    },
  };
}
