import { createHmac } from "node:crypto";

import { type Claim, type Loop, createBackOff, createQueue, startLoop } from "@swath/work";
import type pg from "pg";

import { OPERATOR } from "../access/reader.ts";
import { readChanges } from "../store/changes.ts";
import type { ChangeAnnouncer } from "./change-announcer.ts";
import { toCloudEvent } from "./cloud-event.ts";

const BATCH = 100;
/** Subscribers at once: a slow one must not hold up the others. */
const PARALLEL = 4;
const TIMEOUT_MS = 15_000;
const POLL_MS = 1000;
/** How long a subscriber is left to a process that has taken it on. Leased rather than locked: an open transaction would hold back the feed for all. */
const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;
const backOff = createBackOff({ firstSeconds: 1, maxSeconds: 600 });

interface DeliveriesOptions {
  readonly pool: pg.Pool;
  readonly announcer: ChangeAnnouncer;
  readonly publicUrl: string;
  readonly onError: (error: Error) => void;
}

interface Subscription {
  readonly url: string;
  readonly secret: string | null;
  readonly collections: readonly string[] | null;
  readonly after_tx: string;
  readonly after_n: string;
  readonly after_i: number;
  readonly failures: number;
}

/** Subscriptions with changes that were not sent yet. */
const subscriptionQueue = createQueue<Subscription>({
  table: "subscription",
  key: ["id"],
  isOpen: `exists (
    select 1 from change c where c.tx < pg_snapshot_xmin(pg_current_snapshot()) and (c.tx, c.n) >= (q.after_tx, q.after_n)
      and ((c.tx, c.n) > (q.after_tx, q.after_n) or cardinality(c.ids) > q.after_i)
      and (q.collections is null or c.collection = any(q.collections)))`,
  leaseSeconds: LEASE_SECONDS,
  returning: "q.url, q.secret, q.collections, q.after_tx::text, q.after_n, q.after_i, q.failures",
  prepared: "next-subscription",
});

/**
 * Sends changes to those who subscribed, in order, at least once each. A subscription is held by one process at a time, and its place moves
 * on only when the other side has taken a batch: what a crash interrupts is sent again.
 */
export async function startDeliveries({ pool, announcer, publicUrl, onError }: DeliveriesOptions): Promise<Loop> {
  const loop = await startLoop<Claim<Subscription>>({
    concurrency: PARALLEL,
    claim: ({ limit }) => subscriptionQueue.claim(pool, limit),
    renewMs: RENEW_MS,
    maxSleepMs: POLL_MS,
    abortOnStop: true,
    run: (claim, signal) => deliverBatch({ pool, publicUrl }, claim, signal),
    onError,
  });
  const stopListening = announcer.onAnnounced(loop.wake);
  return {
    ...loop,
    stop: async () => {
      stopListening();
      await loop.stop();
    },
  };
}

async function deliverBatch(
  { pool, publicUrl }: Pick<DeliveriesOptions, "pool" | "publicUrl">,
  { row: subscription, lease }: Claim<Subscription>,
  signal: AbortSignal,
): Promise<void> {
  const { collections, failures } = subscription;
  const changes = await readChanges(pool, {
    reader: OPERATOR,
    after: { tx: subscription.after_tx, n: subscription.after_n, i: subscription.after_i },
    limit: BATCH,
    collections: collections ?? undefined,
  });
  const last = changes.at(-1);
  const error =
    last === undefined
      ? undefined
      : await send(subscription, JSON.stringify(changes.map((change) => toCloudEvent(change, publicUrl))), signal);
  if (error === undefined) {
    const { tx, n, i } = last?.position ?? {
      tx: subscription.after_tx,
      n: subscription.after_n,
      i: subscription.after_i,
    };
    await lease.end(
      "after_tx = $1::xid8, after_n = $2, after_i = $3, failures = 0, last_error = null, next_at = now()",
      [tx, n, i],
    );
  } else {
    await lease.end("failures = failures + 1, last_error = $1, next_at = now() + make_interval(secs => $2)", [
      error.slice(0, 500),
      backOff(failures + 1),
    ]);
  }
}

/** Why it was not taken; nothing where it was. */
async function send({ url, secret }: Subscription, body: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/cloudevents-batch+json",
        ...(secret !== null && {
          "x-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
        }),
      },
      body,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `responded ${response.status}`;
  } catch (error) {
    return (error as Error).message;
  }
}
