import { type Kysely, type Selectable, sql } from "kysely";

import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;
export type Delivery = Selectable<Tables["delivery"]>;

/** Channel on which new deliveries are told. */
export const DELIVERY_CHANNEL = "ades_delivery";
/** Seconds that one attempt has to itself; after them another process may make the next. */
const LEASE_SECONDS = 60;
/** Seconds between attempts at most. */
const MAX_BACKOFF = 3600;
/** Attempts after which nobody is told any more: some four hours. */
export const MAX_ATTEMPTS = 15;

/** Takes a delivery whose time has come; `undefined` where none waits. */
export async function claimDelivery(db: Db): Promise<Delivery | undefined> {
  const { rows } = await sql<Delivery>`
    update delivery set attempts = attempts + 1, next_at = now() + make_interval(secs => ${LEASE_SECONDS})
    where id = (
      select id from delivery where status = 'waiting' and next_at <= now() order by next_at for update skip locked limit 1)
    returning *`.execute(db);
  return rows[0];
}

/** @param target where a registration led to */
export async function endDelivery(
  db: Db,
  id: string,
  status: "delivered" | "given-up",
  error?: string,
  target?: string,
): Promise<void> {
  await db
    .updateTable("delivery")
    .set({ status, error: error ?? null, ended_at: sql<Date>`now()`, ...(target !== undefined && { target }) })
    .where("id", "=", id)
    .execute();
}

/** Has a delivery tried again: after 2 seconds, 4, 8, … */
export async function postponeDelivery(db: Db, { id, attempts }: Delivery, error: string): Promise<void> {
  if (attempts >= MAX_ATTEMPTS) {
    await endDelivery(db, id, "given-up", error);
    return;
  }
  const pause = Math.min(MAX_BACKOFF, 2 ** attempts);
  await db
    .updateTable("delivery")
    .set({ error, next_at: sql<Date>`now() + make_interval(secs => ${pause})` })
    .where("id", "=", id)
    .execute();
}

/** Milliseconds until the next delivery is due; `undefined` where none waits. */
export async function untilNextDelivery(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(next_at) - now()) * 1000)::float8 as ms from delivery where status = 'waiting'`.execute(
    db,
  );
  return rows[0]?.ms ?? undefined;
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
