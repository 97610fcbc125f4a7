import { type Claim, createBackOff, createQueue } from "@swath/work";
import type { Kysely, Selectable } from "kysely";

import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;
export type Delivery = Selectable<Tables["delivery"]>;

/** Channel on which new deliveries are told. */
export const DELIVERY_CHANNEL = "ades_delivery";
/** A delivery of a process that died is another one's after this. */
const LEASE_SECONDS = 60;
export const RENEW_MS = 15_000;
/** Attempts after which nobody is told any more: some four hours. */
export const MAX_ATTEMPTS = 15;
const backOff = createBackOff({ firstSeconds: 2, maxSeconds: 3600, maxAttempts: MAX_ATTEMPTS });

export const deliveryQueue = createQueue<Delivery>({
  table: "delivery",
  key: ["id"],
  isOpen: "q.status = 'waiting'",
  leaseSeconds: LEASE_SECONDS,
  onClaim: "attempts = q.attempts + 1",
});

/** @param target where a registration led to */
export async function endDelivery(
  { lease }: Claim<Delivery>,
  status: "delivered" | "given-up",
  error?: string,
  target?: string,
): Promise<void> {
  await lease.end("status = $1, error = $2, ended_at = now(), target = coalesce($3, target)", [
    status,
    error ?? null,
    target ?? null,
  ]);
}

/** Has a delivery tried again: after about 2 seconds, 4, 8, … */
export async function postponeDelivery(claim: Claim<Delivery>, error: string): Promise<void> {
  const pause = backOff(claim.row.attempts);
  if (pause === undefined) {
    await endDelivery(claim, "given-up", error);
    return;
  }
  await claim.lease.end("error = $1, next_at = now() + make_interval(secs => $2)", [error, pause]);
}

/** Registration of a job's results; `undefined` where there is none. */
export async function findRegistration(
  db: Db,
  job: string,
): Promise<{ readonly isWaiting: boolean; readonly target?: string } | undefined> {
  const row = await db
    .selectFrom("delivery")
    .select(["status", "target", "error"])
    .where("job", "=", job)
    .where("kind", "=", "registration")
    .executeTakeFirst();
  // One that failed is tried again after a while, which nobody waits for.
  return (
    row && {
      isWaiting: row.status === "waiting" && row.error === null,
      ...(row.target !== "" && { target: row.target }),
    }
  );
}

/** Who was or will be told of a job. Secrets in addresses stay out of sight. */
export async function listDeliveries(db: Db, job: string) {
  const rows = await db
    .selectFrom("delivery")
    .selectAll()
    .where("job", "=", job)
    .orderBy("created_at")
    .orderBy("kind")
    .execute();
  return rows.map(({ kind, target, status, attempts, error, ended_at, next_at }) => ({
    kind,
    ...(target !== "" && { target: `${new URL(target).origin}${new URL(target).pathname}` }),
    status,
    attempts,
    ...(error !== null && { error }),
    ...(ended_at !== null && { ended: ended_at.toISOString() }),
    ...(status === "waiting" && { next: next_at.toISOString() }),
  }));
}
