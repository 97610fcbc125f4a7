import { type Kysely, sql } from "kysely";

import { JOB_CHANNEL, type Job } from "./jobs.ts";
import { toStorable } from "./storable.ts";
import type { JobRequest, JobResult, Tables } from "./tables.ts";

/**
 * A job that was done while it was accepted. It goes through the states of any other in one transaction, so that its subscriber
 * is told and nobody else takes it.
 */
export async function insertEndedJob(
  db: Kysely<Tables>,
  job: {
    readonly owner: string;
    readonly processId: string;
    readonly request: JobRequest;
    readonly result: JobResult;
  },
): Promise<Job> {
  return db.transaction().execute(async (transaction) => {
    const { id } = await transaction
      .insertInto("job")
      .values({
        owner: job.owner,
        process_id: job.processId,
        process_version: 0,
        status: "accepted",
        message: null,
        request: JSON.stringify(job.request),
        result: null,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    const change = transaction.updateTable("job").where("id", "=", id);
    await change.set({ status: "running", started_at: sql<Date>`now()`, attempts: 1 }).execute();
    const ended = await change
      .set({
        status: "successful",
        message: "The job is done.",
        progress: 100,
        result: JSON.stringify(toStorable(job.result)),
        finished_at: sql<Date>`clock_timestamp()`,
        updated_at: sql<Date>`clock_timestamp()`,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await sql`select pg_notify(${JOB_CHANNEL}, ${`${id} successful`})`.execute(transaction);
    return ended;
  });
}
