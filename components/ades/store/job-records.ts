import type { Kysely } from "kysely";
import { sql } from "kysely";

import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

export interface StepChange {
  readonly status: "running" | "successful" | "failed" | "skipped";
  readonly exitCode?: number | undefined;
  readonly message?: string | undefined;
  /** Words of the command, where it is started. */
  readonly command?: readonly string[] | undefined;
  readonly image?: string | undefined;
}

export async function setStep(db: Db, job: string, name: string, change: StepChange): Promise<void> {
  const isEnd = change.status !== "running";
  const fields = {
    status: change.status,
    exit_code: change.exitCode ?? null,
    message: change.message ?? null,
    finished_at: isEnd ? sql<Date>`now()` : null,
    ...(change.command && { command: JSON.stringify(change.command) }),
    ...(change.image !== undefined && { image: change.image }),
  };
  await db
    .insertInto("job_step")
    .values({ job, name, ...fields, started_at: sql<Date>`now()` })
    .onConflict((conflict) => conflict.columns(["job", "name"]).doUpdateSet(fields))
    .execute();
}

export function listSteps(db: Db, job: string) {
  return db.selectFrom("job_step").selectAll().where("job", "=", job).orderBy("started_at").orderBy("name").execute();
}

export async function addLog(db: Db, job: string, step: string, text: string): Promise<void> {
  await db.insertInto("job_log").values({ job, step, text }).execute();
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
