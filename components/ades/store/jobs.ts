import type { Kysely, Selectable } from "kysely";
import { sql } from "kysely";

import type { JobRequest, JobResult, Tables } from "./tables.ts";

export type Job = Selectable<Tables["job"]>;
type Db = Kysely<Tables>;

/** Channel on which new and dismissed jobs are told. */
export const JOB_CHANNEL = "ades_job";
/** Seconds that a runner has a job to itself; it asks for more while it works. */
export const LEASE_SECONDS = 30;
/** A job whose runner died this often is given up. */
const MOST_ATTEMPTS = 3;

export async function insertJob(
  db: Db,
  job: { readonly owner: string; readonly processId: string; readonly version: number; readonly request: JobRequest },
): Promise<Job> {
  return db.transaction().execute(async (transaction) => {
    const inserted = await transaction
      .insertInto("job")
      .values({
        owner: job.owner,
        process_id: job.processId,
        process_version: job.version,
        status: "accepted",
        message: "The job is accepted and waits for its turn.",
        request: JSON.stringify(job.request),
        result: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await sql`select pg_notify(${JOB_CHANNEL}, ${inserted.id})`.execute(transaction);
    return inserted;
  });
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export async function findJob(db: Db, owner: string, id: string): Promise<Job | undefined> {
  return UUID.test(id)
    ? db.selectFrom("job").selectAll().where("owner", "=", owner).where("id", "=", id).executeTakeFirst()
    : undefined;
}

/**
 * Takes the next job: of the user who has fewest at work, the oldest. One whose runner died is taken again.
 * @returns its id, or `undefined` when nothing waits
 */
export async function claimJob(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    update job set status = 'running', attempts = attempts + 1, updated_at = now(),
      started_at = coalesce(started_at, now()), lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id = (
      select j.id from job j
      where j.status = 'accepted' or (j.status = 'running' and j.lease_until < now())
      order by (select count(*) from job r where r.owner = j.owner and r.status = 'running' and r.lease_until >= now()),
        j.created_at
      for update skip locked limit 1)
    returning id`.execute(db);
  return rows[0]?.id;
}

/** Keeps a job; `false` when it is no longer this runner's to work on: dismissed, or taken by another. */
export async function renewLease(db: Db, id: string, attempt: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("job")
    .set({ lease_until: sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})` })
    .where("id", "=", id)
    .where("status", "=", "running")
    .where("attempts", "=", attempt)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

/** Has every running job taken again now: the service that had their runners has ended. */
export async function releaseLeases(db: Db): Promise<void> {
  await db
    .updateTable("job")
    .set({ lease_until: sql<Date>`now() - interval '1 second'` })
    .where("status", "=", "running")
    .execute();
}

/** A runner died. The job is taken again, or given up after too many deaths. */
export async function noteDeath(db: Db, id: string, why: string): Promise<void> {
  await sql`
    update job set updated_at = now(),
      lease_until = now() - interval '1 second',
      status = case when attempts >= ${MOST_ATTEMPTS} then 'failed' else status end,
      finished_at = case when attempts >= ${MOST_ATTEMPTS} then now() end,
      message = case when attempts >= ${MOST_ATTEMPTS} then ${why} else message end
    where id = ${id} and status = 'running'`.execute(db);
}

export interface Progress {
  readonly progress?: number;
  readonly message?: string;
}

export async function setProgress(db: Db, id: string, { progress, message }: Progress): Promise<void> {
  await db
    .updateTable("job")
    .set({
      updated_at: sql<Date>`now()`,
      ...(progress !== undefined && { progress: sql<number>`greatest(progress, ${Math.floor(progress)})` }),
      ...(message !== undefined && { message }),
    })
    .where("id", "=", id)
    .where("status", "=", "running")
    .execute();
}

interface End {
  readonly status: "successful" | "failed";
  readonly message: string;
  readonly result?: JobResult;
}

/** The end of a job, once; `false` when it had ended already (dismissed). */
export async function finishJob(db: Db, id: string, { status, message, result }: End): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("job")
    .set({
      status,
      message,
      finished_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
      lease_until: null,
      ...(status === "successful" && { progress: 100 }),
      ...(result && { result: JSON.stringify(result) }),
    })
    .where("id", "=", id)
    .where("status", "in", ["accepted", "running"])
    .executeTakeFirst();
  await sql`select pg_notify(${JOB_CHANNEL}, ${id})`.execute(db);
  return Number(numUpdatedRows) === 1;
}

/**
 * Ends a job that waits or runs, and forgets one that has ended. Gives the job as it is then.
 * @param withResults notes what a forgotten job stored, to be removed
 */
export async function dismissJob(
  db: Db,
  { owner, id, withResults }: { readonly owner: string; readonly id: string; readonly withResults: boolean },
): Promise<Job | undefined> {
  const job = await findJob(db, owner, id);
  if (job === undefined) {
    return undefined;
  }
  if (job.status === "accepted" || job.status === "running") {
    await db
      .updateTable("job")
      .set({
        status: "dismissed",
        message: "The job was dismissed.",
        finished_at: sql<Date>`now()`,
        updated_at: sql<Date>`now()`,
        lease_until: null,
      })
      .where("id", "=", id)
      .where("status", "in", ["accepted", "running"])
      .execute();
    await sql`select pg_notify(${JOB_CHANNEL}, ${id})`.execute(db);
    return findJob(db, owner, id);
  }
  await sql`
    with noted as (
      insert into removal (job, owner, catalog_uri) select id, owner, result ->> 'catalogUri' from job
      where id = ${id} and ${withResults} and result ? 'catalogUri' on conflict do nothing)
    delete from job where id = ${id}`.execute(db);
  return { ...job, status: "dismissed", message: "The job was dismissed; its record and results here are gone." };
}
