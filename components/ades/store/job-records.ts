import type { Kysely } from "kysely";
import { sql } from "kysely";

import { JOB_CHANNEL } from "./jobs.ts";
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
}

export interface LogRecord {
  readonly at: string;
  readonly step: string;
  readonly text: string;
}

/** What happened in a job since the last time that was written down. */
export interface JobNews {
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
}

interface Attempt {
  readonly id: string;
  readonly attempts: number;
}

/** Writes news of a job in one statement. Nothing durable depends on it, so it does not wait for the disk. */
export async function writeNews(db: Db, { id, attempts }: Attempt, news: JobNews): Promise<void> {
  await sql`/* prepared: write-news */
    with ${recordsOf(id, news)}
    update job set updated_at = now(), progress = greatest(progress, ${Math.floor(news.progress ?? 0)}::integer),
      message = coalesce(${news.message === undefined ? null : toStorableText(news.message)}::text, message)
    where id = ${id} and status = 'running' and attempts = ${attempts}
      and set_config('synchronous_commit', 'off', true) is not null`.execute(db);
}

/**
 * The end of a job, once, with its last news and its results in one statement.
 * @returns false when it had ended already (dismissed), or is another attempt's
 */
export async function finishJob(db: Db, { id, attempts }: Attempt, end: JobEnd, news: JobNews): Promise<boolean> {
  const failure = end.failure === undefined ? null : JSON.stringify(end.failure);
  const result = end.result === undefined ? null : JSON.stringify(toStorable(end.result));
  const { rows } = await sql`/* prepared: finish-job */
    with ${recordsOf(id, news)}, ended as (
      update job set status = ${end.status}, message = ${toStorableText(end.message)}, finished_at = now(), updated_at = now(),
        lease_until = null, holder = null, stage = null, failure = ${failure}::json, progress = case when ${end.status} = 'successful' then 100 else progress end,
        result = ${result}::json
      where id = ${id} and status = 'running' and attempts = ${attempts}
      returning id, status)
    select pg_notify(${JOB_CHANNEL}, id || ' ' || status) from ended`.execute(db);
  return rows.length === 1;
}

function recordsOf(job: string, { steps, log }: JobNews) {
  const [stepRows, logRows] = [JSON.stringify(toStorable(steps)), JSON.stringify(toStorable(log))];
  return sql`step_rows as (
      insert into job_step (job, name, status, exit_code, message, started_at, finished_at, command, image)
      select ${job}, name, status, "exitCode", message, "startedAt", "finishedAt", command, image
      from jsonb_to_recordset(${stepRows}::jsonb) as row
        (name text, status text, "exitCode" integer, message text, "startedAt" timestamptz, "finishedAt" timestamptz,
          command jsonb, image text)
      on conflict (job, name) do update set status = excluded.status, exit_code = excluded.exit_code,
        message = excluded.message, started_at = excluded.started_at, finished_at = excluded.finished_at,
        command = coalesce(excluded.command, job_step.command), image = coalesce(excluded.image, job_step.image)
    ), log_rows as (
      insert into job_log (job, at, step, text)
      select ${job}, at, step, text from jsonb_to_recordset(${logRows}::jsonb) as row (at timestamptz, step text, text text)
    )`;
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
