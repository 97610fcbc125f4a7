import type { Kysely } from "kysely";
import { sql } from "kysely";

import type { Outputs, StepState, Tables } from "./tables.ts";

export interface StepRecord {
  readonly name: string;
  readonly state: StepState;
  readonly attempts: number;
  readonly error: string | null;
  readonly outputs: Outputs | null;
  readonly updatedAt: Date;
}

type Db = Kysely<Tables>;

export async function listSteps(db: Db, workspace: string): Promise<readonly StepRecord[]> {
  const rows = await db.selectFrom("step").selectAll().where("workspace", "=", workspace).orderBy("name").execute();
  return rows.map(({ name, state, attempts, error, outputs, updated_at }) => ({
    name,
    state,
    attempts,
    error,
    outputs,
    updatedAt: updated_at,
  }));
}

/** Stores what a step made before it goes on: after a crash the next attempt starts from it. */
export async function saveOutputs(db: Db, workspace: string, name: string, outputs: Outputs): Promise<void> {
  const text = JSON.stringify(outputs);
  await db
    .insertInto("step")
    .values({ workspace, name, state: "pending", outputs: text, error: null })
    .onConflict((conflict) =>
      conflict.columns(["workspace", "name"]).doUpdateSet({ outputs: text, updated_at: sql`now()` }),
    )
    .execute();
}

export async function setStepDone(db: Db, workspace: string, name: string): Promise<void> {
  await db
    .insertInto("step")
    .values({ workspace, name, state: "done", error: null, outputs: null })
    .onConflict((conflict) =>
      conflict
        .columns(["workspace", "name"])
        .doUpdateSet({ state: "done", attempts: 0, error: null, updated_at: sql`now()` }),
    )
    .execute();
}

/** Notes a failed attempt and gives how many there have been in a row. */
export async function setStepFailed(db: Db, workspace: string, name: string, error: string): Promise<number> {
  const { attempts } = await db
    .insertInto("step")
    .values({ workspace, name, state: "failed", attempts: 1, error, outputs: null })
    .onConflict((conflict) =>
      conflict
        .columns(["workspace", "name"])
        .doUpdateSet({ state: "failed", attempts: sql`step.attempts + 1`, error, updated_at: sql`now()` }),
    )
    .returning("attempts")
    .executeTakeFirstOrThrow();
  return attempts;
}

export async function dropStep(db: Db, workspace: string, name: string): Promise<void> {
  await db.deleteFrom("step").where("workspace", "=", workspace).where("name", "=", name).execute();
}

/** Repairs are a report for people: the latest hundred of a workspace are enough. */
const REPAIRS_KEPT = 100;

export async function addRepairs(db: Db, workspace: string, step: string, repairs: readonly string[]): Promise<void> {
  if (repairs.length === 0) {
    return;
  }
  await db
    .insertInto("repair")
    .values(repairs.map((what) => ({ workspace, step, what })))
    .execute();
  await sql`delete from repair where workspace = ${workspace} and id <= (
    select id from repair where workspace = ${workspace} order by id desc offset ${REPAIRS_KEPT} limit 1)`.execute(db);
}

export async function listRepairs(
  db: Db,
  workspace: string,
): Promise<readonly { readonly step: string; readonly what: string; readonly at: Date }[]> {
  return db
    .selectFrom("repair")
    .select(["step", "what", "at"])
    .where("workspace", "=", workspace)
    .orderBy("id", "desc")
    .limit(20)
    .execute();
}
