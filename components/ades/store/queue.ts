import type { Kysely } from "kysely";
import { sql } from "kysely";

import { filterJobs } from "./job-ids.ts";
import { OPEN_LIST } from "./job-states.ts";
import { JOB_CHANNEL, type Job } from "./jobs.ts";
import { toStorableText } from "./storable.ts";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** Seconds that a service has a job to itself; it asks for more while the job is at work. */
export const LEASE_SECONDS = 10;
/** Milliseconds between renewals. */
export const RENEW_MS = 2500;
/** A job whose runner died this often is given up. */
const MAX_DEATHS = 3;
/** Seconds that others may pass a job that is too large for what is free just now; then room is kept for it. */
const PASSED_SECONDS = 600;

/** A job at work, with the package that it runs. */
export interface ClaimedJob extends Job {
  /** Its text; null when the process is gone. */
  readonly package: string | null;
  /** The workflow in the package, where its id is another than the process's. */
  readonly entry: string | null;
  /** Digests of images, by the names that the package has for them; null when the process is gone. */
  readonly images: Readonly<Record<string, string>> | null;
}

/** Who takes a job, and what of. */
export interface Claim {
  readonly instance: string;
  readonly freeCapacity: FreeCapacity;
  /** Jobs that the caller has at work, whatever their lease says, and those that it passes by. */
  readonly passed: readonly string[];
  /** The most memory that one job is given. */
  readonly maxRamMiB: number;
  /** Jobs of one user that are at work at the same time, at most. */
  readonly maxOfUser?: number | undefined;
}

/** What is free for another job. */
export interface FreeCapacity {
  readonly cores: number;
  readonly ramMiB: number;
}

/**
 * Takes the next job that fits: of the users who have fewest at work the one whose turn was longest ago, of that user the oldest.
 * A job whose service died is taken again.
 */
export async function claimJob(
  db: Db,
  { instance, freeCapacity, passed, maxRamMiB, maxOfUser }: Claim,
): Promise<ClaimedJob | undefined> {
  // What is lost by a crash of the database before the next commit is a claim only, so this commit does not wait for the disk; see retakeLostClaims.
  const { rows } = await sql<ClaimedJob>`/* prepared: claim-job */
    with recursive ${queue(freeCapacity, passed, maxOfUser)}, turn as (
      insert into queue_turn (owner, served_at) select owner, clock_timestamp() from chosen
      on conflict (owner) do update set served_at = excluded.served_at
    )
    update job set status = 'running', attempts = attempts + 1, updated_at = now(), message = 'The job is starting.',
      started_at = coalesce(started_at, now()), lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
      holder = ${instance}, heard_at = null, stage = null,
      granted_ram_mib = greatest(need_ram_mib, least(coalesce(wish_ram_mib, ${maxRamMiB}), ${maxRamMiB}, ${freeCapacity.ramMiB}))
    where id = (select id from chosen) and (status = 'accepted' or (status = 'running' and ${IS_FREE}))
      and set_config('synchronous_commit', 'off', true) is not null
    returning job.*, (
        select p.package from process p
        where p.owner = job.owner and p.id = job.process_id and p.version = job.process_version) as package, (
        select p.entry from process p
        where p.owner = job.owner and p.id = job.process_id and p.version = job.process_version) as entry, (
        select p.images from process p
        where p.owner = job.owner and p.id = job.process_id and p.version = job.process_version) as images`.execute(db);
  return rows[0];
}

/** The id of the job that `claimJob` would take: for one that it cannot. */
export async function findNextJob(db: Db, { freeCapacity, passed, maxOfUser }: Claim): Promise<string | undefined> {
  const { rows } = await sql<{
    id: string;
  }>`with recursive ${queue(freeCapacity, passed, maxOfUser)} select id from chosen`.execute(db);
  return rows[0]?.id;
}

/**
 * Whether a job that runs is nobody's any more: its lease has run out, and not only because the database was away, where its holder
 * could not renew it. A job that was let go of has no holder.
 */
const IS_FREE = sql`(lease_until < now() and (holder is null
  or pg_postmaster_start_time() < now() - make_interval(secs => ${sql.lit(LEASE_SECONDS)})))`;

/** The queue, in its order, and the job whose turn it is. One index entry a user is looked at to find the users, however many jobs wait. */
function queue({ cores, ramMiB }: FreeCapacity, passed: readonly string[], maxOfUser = 1_000_000) {
  return sql`owners as (
      (select owner from job where status in ${OPEN_LIST} order by owner limit 1)
      union all
      select (select j.owner from job j where j.status in ${OPEN_LIST} and j.owner > o.owner order by j.owner limit 1)
      from owners o where o.owner is not null
    ), heads as (
      select head.*, turn.served_at, (
        select count(*) from job r where r.owner = o.owner and r.status in ${OPEN_LIST} and r.status = 'running'
          and r.lease_until >= now()) as at_work
      from owners o
      cross join lateral (
        select j.id, j.owner, j.created_at, j.need_cores <= ${cores} and j.need_ram_mib <= ${ramMiB} as fits
        from job j
        where j.owner = o.owner and j.status in ${OPEN_LIST} and (j.status = 'accepted' or ${IS_FREE})
          and j.id <> all(${passed as string[]}::uuid[])
        order by j.created_at, j.id limit 1) head
      left join queue_turn turn on turn.owner = o.owner
      where o.owner is not null
    ), queue as (
      select heads.*, row_number() over (order by at_work, served_at nulls first, created_at, id) as place from heads where at_work < ${maxOfUser}::bigint
    ), chosen as (
      select q.id, q.owner from queue q
      where q.fits and not exists (
        select from queue e where not e.fits and e.place < q.place
          and e.created_at < now() - make_interval(secs => ${PASSED_SECONDS}))
      order by q.place limit 1
    )`;
}

/** Ends a job that cannot be taken, with the reason, so that it holds up nobody. `false` where it is not there any more. */
export async function setJobAside(db: Db, id: string, why: string): Promise<boolean> {
  const { rows } = await sql`
    with aside as (
      update job set status = 'failed', finished_at = now(), updated_at = now(), lease_until = null,
        message = ${`The job cannot be read and was set aside: ${toStorableText(why)}`}
      where id = ${id} and status in ${OPEN_LIST}
      returning id, status)
    select pg_notify(${JOB_CHANNEL}, id || ' ' || status) from aside`.execute(db);
  return rows.length === 1;
}

/** A job that an instance has at work, and what was heard of its runner. */
export interface HeldJob {
  readonly id: string;
  readonly attempts: number;
  readonly holder: string | null;
  readonly stage?: string | null | undefined;
  /** Milliseconds since its runner was heard of. */
  readonly silentMs?: number | undefined;
}

/** Keeps jobs; gives those that are still the caller's to work on, the others were dismissed or taken by another instance. */
export async function renewLeases(db: Db, jobs: readonly HeldJob[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    update job set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}), stage = coalesce(held.stage, job.stage),
      heard_at = coalesce(now() - make_interval(secs => held."silentMs" / 1000.0), heard_at)
    from jsonb_to_recordset(${JSON.stringify(jobs)}::jsonb) as held (id uuid, attempts integer, holder text, stage text, "silentMs" float8)
    where job.id = held.id and job.attempts = held.attempts and job.status = 'running'
      and (job.holder is null or job.holder = held.holder)
    returning job.id`.execute(db);
  const kept = new Set(rows.map(({ id }) => id));
  const others = jobs.filter(({ id }) => !kept.has(id));
  return others.length === 0 ? kept : new Set([...kept, ...(await retakeLostClaims(db, others))]);
}

/** Whether a job is still this attempt's. */
export async function isHeld(db: Db, job: HeldJob): Promise<boolean> {
  const row = await db.selectFrom("job").select("id").where(isAttempt(job)).executeTakeFirst();
  return row !== undefined || (await retakeLostClaims(db, [job])).has(job.id);
}

/** Whether a row is that of an attempt: of its number, and nobody else's. */
export const isAttempt = ({ id, attempts, holder }: HeldJob) =>
  sql<boolean>`(id = ${id} and status = 'running' and attempts = ${attempts} and (holder is null or holder = ${holder}))`;

/**
 * Takes jobs again whose claims were lost when the database crashed: their rows have one attempt less than their holder knows of.
 * Without it they would be carried out a second time, in the folder that the first time removes.
 * @returns those that are the caller's again; not those that somebody else has taken since, or dismissed
 */
export async function retakeLostClaims(db: Db, jobs: readonly HeldJob[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    update job set status = 'running', attempts = held.attempts, holder = held.holder, updated_at = now(),
      started_at = coalesce(started_at, now()), lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    from jsonb_to_recordset(${JSON.stringify(jobs)}::jsonb) as held (id uuid, attempts integer, holder text)
    where job.id = held.id and job.attempts = held.attempts - 1 and job.status in ${OPEN_LIST}
    returning job.id`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** A runner ended without an answer. The job is taken again, or given up after too many deaths. */
export async function recordRunnerCrash(
  db: Db,
  { id, attempts }: { readonly id: string; readonly attempts: number },
  why: string,
): Promise<void> {
  await sql`
    with noted as (
      update job set updated_at = now(), deaths = deaths + 1, lease_until = now() - interval '1 second',
        holder = null,
        status = case when deaths + 1 >= ${MAX_DEATHS} then 'failed' else status end,
        finished_at = case when deaths + 1 >= ${MAX_DEATHS} then now() end,
        message = case when deaths + 1 >= ${MAX_DEATHS} then ${why}
          else 'The job was interrupted and goes on from its last finished step.' end
      where id = ${id} and attempts = ${attempts} and status = 'running'
      returning id, status)
    select pg_notify(${JOB_CHANNEL}, id || ' ' || status) from noted`.execute(db);
}

/** Ends jobs that wait for more than any instance has: they were accepted when there was more. */
export async function refuseTooLarge(db: Db, { cores, ramMiB }: FreeCapacity): Promise<void> {
  await sql`
    with refused as (
      update job set status = 'failed', finished_at = now(), updated_at = now(), message = format(
        'The job needs %s cores and %s MiB of memory for one of its tools; a job may have %s cores and %s MiB here by now.',
        need_cores, need_ram_mib, ${String(cores)}::text, ${String(ramMiB)}::text)
      where status = 'accepted' and (need_cores > ${cores} or need_ram_mib > ${ramMiB}) and not exists (
        select from instance where job_cores >= need_cores and job_ram_mib >= need_ram_mib)
      returning id, status)
    select pg_notify(${JOB_CHANNEL}, id || ' ' || status) from refused`.execute(db);
}

/** Which of these jobs are waiting or at work. */
export const findUnfinished = (db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  filterJobs(db, ids, sql`status in ${OPEN_LIST}`);
