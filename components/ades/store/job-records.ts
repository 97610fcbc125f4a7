import type { Kysely } from "kysely";
import { sql } from "kysely";

import { JOB_CHANNEL } from "./jobs.ts";
import { type HeldJob, isAttempt, retakeLostClaims } from "./queue.ts";
import { toStorable, toStorableText } from "./storable.ts";
import type { JobFailure, JobResult, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** Where a step has come to. Times are ISO 8601. */
export interface StepRecord {
  readonly name: string;
  readonly status: "running" | "successful" | "failed" | "skipped";
  readonly exitCode: number | null;
  readonly message: string | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** Words of the command, where one was started. */
  readonly command: readonly string[] | null;
  readonly image: string | null;
  readonly cpuSeconds: number | null;
  readonly peakMemoryBytes: number | null;
  readonly bytesIn: number | null;
  readonly bytesOut: number | null;
  readonly wallSeconds: number | null;
}

export interface LogRecord {
  readonly at: string;
  readonly step: string;
  readonly text: string;
}

/** What happened in a job since the last time that was written down. */
export interface JobUpdates {
  readonly steps: readonly StepRecord[];
  readonly log: readonly LogRecord[];
  readonly progress?: number | undefined;
  readonly message?: string | undefined;
}

export interface JobEnd {
  readonly status: "successful" | "failed";
  readonly message: string;
  readonly result?: JobResult | undefined;
  readonly failure?: JobFailure | undefined;
  readonly bytesIn?: number | undefined;
  readonly bytesOut?: number | undefined;
}

/** Writes news of a job in one statement. Nothing durable depends on it, so it does not wait for the disk. */
export async function saveJobUpdates(db: Db, job: HeldJob, updates: JobUpdates): Promise<void> {
  await sql`/* prepared: write-news */
    with ${recordsOf(job.id, updates)}
    update job set updated_at = now(), progress = greatest(progress, ${Math.floor(updates.progress ?? 0)}::integer),
      message = coalesce(${updates.message === undefined ? null : toStorableText(updates.message)}::text, message)
    where ${isAttempt(job)}
      and set_config('synchronous_commit', 'off', true) is not null`.execute(db);
}

/**
 * The end of a job, once, with its last news and its results in one statement.
 * @returns false when it had ended already (dismissed), or is another attempt's
 */
export async function finishJob(db: Db, job: HeldJob, end: JobEnd, updates: JobUpdates): Promise<boolean> {
  if (await finishOnce(db, job, end, updates)) {
    return true;
  }
  return (await retakeLostClaims(db, [job])).has(job.id) && finishOnce(db, job, end, updates);
}

async function finishOnce(db: Db, job: HeldJob, end: JobEnd, updates: JobUpdates): Promise<boolean> {
  const failure = end.failure === undefined ? null : JSON.stringify(end.failure);
  const result = end.result === undefined ? null : JSON.stringify(toStorable(end.result));
  const { rows } = await sql`/* prepared: finish-job */
    with ${recordsOf(job.id, updates)}, ended as (
      update job set status = ${end.status}, message = ${toStorableText(end.message)}, finished_at = now(), updated_at = now(),
        lease_until = null, holder = null, stage = null, failure = ${failure}::json,
        bytes_in = ${end.bytesIn ?? null}::bigint, bytes_out = ${end.bytesOut ?? null}::bigint, progress = case when ${end.status} = 'successful' then 100 else progress end,
        result = ${result}::json
      where ${isAttempt(job)}
      returning id, status)
    select pg_notify(${JOB_CHANNEL}, id || ' ' || status) from ended`.execute(db);
  return rows.length === 1;
}

function recordsOf(job: string, { steps, log }: JobUpdates) {
  const [stepRows, logRows] = [JSON.stringify(toStorable(steps)), JSON.stringify(toStorable(log))];
  return sql`step_rows as (
      insert into job_step (job, name, status, exit_code, message, started_at, finished_at, command, image, cpu_seconds,
        peak_memory_bytes, wall_seconds, bytes_in, bytes_out)
      select ${job}, name, status, "exitCode", message, "startedAt", "finishedAt", command, image, "cpuSeconds",
        "peakMemoryBytes", "wallSeconds", "bytesIn", "bytesOut"
      from jsonb_to_recordset(${stepRows}::jsonb) as row
        (name text, status text, "exitCode" integer, message text, "startedAt" timestamptz, "finishedAt" timestamptz,
          command jsonb, image text, "cpuSeconds" real, "peakMemoryBytes" bigint, "wallSeconds" real,
          "bytesIn" bigint, "bytesOut" bigint)
      on conflict (job, name) do update set status = excluded.status, exit_code = excluded.exit_code,
        message = excluded.message, started_at = excluded.started_at, finished_at = excluded.finished_at,
        command = coalesce(excluded.command, job_step.command), image = coalesce(excluded.image, job_step.image),
        cpu_seconds = coalesce(excluded.cpu_seconds, job_step.cpu_seconds),
        peak_memory_bytes = coalesce(excluded.peak_memory_bytes, job_step.peak_memory_bytes),
        wall_seconds = coalesce(excluded.wall_seconds, job_step.wall_seconds),
        bytes_in = coalesce(excluded.bytes_in, job_step.bytes_in), bytes_out = coalesce(excluded.bytes_out, job_step.bytes_out)
    ), log_rows as (
      insert into job_log (job, at, step, text)
      select ${job}, at, step, text from jsonb_to_recordset(${logRows}::jsonb) as row (at timestamptz, step text, text text)
    )`;
}

/** What the steps of a job used together; the most memory of one of them. */
export async function sumUsage(
  db: Db,
  job: string,
): Promise<{ cpuSeconds: number | null; peakMemoryBytes: number | null }> {
  const row = await db
    .selectFrom("job_step")
    .select([
      sql<number | null>`sum(cpu_seconds)::float8`.as("cpuSeconds"),
      sql<number | null>`max(peak_memory_bytes)::float8`.as("peakMemoryBytes"),
    ])
    .where("job", "=", job)
    .executeTakeFirst();
  return row ?? { cpuSeconds: null, peakMemoryBytes: null };
}

export function listSteps(db: Db, job: string) {
  return db.selectFrom("job_step").selectAll().where("job", "=", job).orderBy("started_at").orderBy("name").execute();
}

export function listLog(db: Db, job: string, after: string) {
  return db
    .selectFrom("job_log")
    .selectAll()
    .where("job", "=", job)
    .where("id", ">", after)
    .orderBy("id")
    .limit(1000)
    .execute();
}
