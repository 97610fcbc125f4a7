import type pg from "pg";

import { toText } from "./to-text.ts";

/** What could not be registered of a task. */
export interface RecordProblem {
  /** Id or address of the record. */
  readonly record: string;
  readonly reason: string;
  /** Its source says that it is not there any more. */
  readonly isGone?: boolean;
}

/** Problems that are kept of a task; its result counts all. */
const MAX_PROBLEMS = 1000;
const MAX_REASON_LENGTH = 2000;

export async function addProblems(pool: pg.Pool, task: string, problems: readonly RecordProblem[]): Promise<void> {
  if (problems.length === 0) {
    return;
  }
  await pool.query(
    `insert into problem (task, record, reason)
     select $1, x.record, x.reason from unnest($2::text[], $3::text[]) with ordinality as x(record, reason, n)
     where (select count(*) from problem where task = $1) + x.n <= $4 order by x.n`,
    [
      task,
      problems.map(({ record }) => toText(record, 500)),
      problems.map(({ reason }) => toText(reason, MAX_REASON_LENGTH)),
      MAX_PROBLEMS,
    ],
  );
}

export async function listProblems(
  pool: pg.Pool,
  task: string,
  limit: number,
): Promise<readonly (RecordProblem & { readonly at: Date })[]> {
  const { rows } = await pool.query<RecordProblem & { at: Date }>(
    "select record, reason, at from problem where task = $1 order by id limit $2",
    [task, limit],
  );
  return rows;
}

/** A new attempt starts with none. */
export async function clearProblems(pool: pg.Pool, task: string): Promise<void> {
  await pool.query("delete from problem where task = $1", [task]);
}
