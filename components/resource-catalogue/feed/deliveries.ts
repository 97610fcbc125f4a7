import { createHmac } from "node:crypto";

import type pg from "pg";

import { OPERATOR } from "../access/reader.ts";
import { readChanges } from "../store/changes.ts";
import type { Bell } from "./bell.ts";
import { toCloudEvent } from "./cloud-event.ts";

const BATCH = 100;
const TIMEOUT_MS = 15_000;
const POLL_MS = 1000;
const MAX_BACKOFF_SECONDS = 600;
/** How long a subscriber is left to a process that has taken it on. */
const LEASE_SECONDS = 30;

interface DeliveriesOptions {
  readonly pool: pg.Pool;
  readonly bell: Bell;
  readonly publicUrl: string;
  readonly onError: (error: Error) => void;
}

interface Subscription {
  readonly id: string;
  readonly url: string;
  readonly secret: string | null;
  readonly collections: readonly string[] | null;
  readonly after_tx: string;
  readonly after_n: string;
  readonly after_i: number;
  readonly failures: number;
}

export interface Deliveries {
  readonly wake: () => void;
  readonly close: () => Promise<void>;
}

/**
 * Sends changes to those who subscribed, in order, at least once each. A subscription is held by one process at a time, and its place moves
 * on only when the other side has taken a batch: what a crash interrupts is sent again.
 */
export function startDeliveries({ pool, bell, publicUrl, onError }: DeliveriesOptions): Deliveries {
  const stop = new AbortController();
  let wake = (): void => {};
  const stopListening = bell.onRing(() => wake());
  const work = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const hasWorked = await deliverNext(pool, publicUrl, stop.signal).catch((error: unknown) => {
        onError(error as Error);
        return false;
      });
      if (!hasWorked && !stop.signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, POLL_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    }
  };
  const ended = work();
  return {
    wake: () => wake(),
    close: async () => {
      stop.abort();
      stopListening();
      wake();
      await ended;
    },
  };
}

/** One batch to one subscriber who is due. `false` where there is none. */
async function deliverNext(pool: pg.Pool, publicUrl: string, signal: AbortSignal): Promise<boolean> {
  // Leased rather than locked: an open transaction would hold back the feed for everybody.
  const { rows } = await pool.query<Subscription>(
    `/* prepared: next-subscription */ update subscription set next_at = now() + make_interval(secs => ${LEASE_SECONDS}) where id = (
       select id from subscription s
       where next_at <= now() and exists (
         select 1 from change c where c.tx < pg_snapshot_xmin(pg_current_snapshot()) and (c.tx, c.n) >= (s.after_tx, s.after_n)
           and ((c.tx, c.n) > (s.after_tx, s.after_n) or cardinality(c.ids) > s.after_i)
           and (s.collections is null or c.collection = any(s.collections))
       ) order by next_at limit 1 for update skip locked
     ) returning id, url, secret, collections, after_tx::text, after_n, after_i, failures`,
  );
  const [subscription] = rows;
  if (subscription === undefined) {
    return false;
  }
  const { id, collections, failures } = subscription;
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
    await pool.query(
      `update subscription set after_tx = $2::xid8, after_n = $3, after_i = $4, failures = 0, last_error = null, next_at = now() where id = $1`,
      [id, tx, n, i],
    );
  } else {
    const seconds = Math.min(MAX_BACKOFF_SECONDS, 2 ** Math.min(failures, 16));
    await pool.query(
      `update subscription set failures = failures + 1, last_error = $2, next_at = now() + make_interval(secs => $3) where id = $1`,
      [id, error.slice(0, 500), seconds],
    );
  }
  return true;
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
