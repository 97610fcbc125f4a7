import { createQueue } from "@swath/work";

import type { Candidate } from "../retention/plan.ts";
import type { RetentionRule } from "../retention/rules.ts";
import type { Sql } from "./database.ts";
import { listImmutableRules } from "./immutable.ts";
import { compilePattern } from "./patterns.ts";

export const SCHEDULES = ["none", "hourly", "daily", "weekly"] as const;
export type Schedule = (typeof SCHEDULES)[number];

export interface RetentionPolicy {
  readonly projectId: string;
  readonly rules: readonly RetentionRule[];
  readonly schedule: Schedule;
  readonly nextAt: Date | null;
}

const INTERVALS: Readonly<Record<Schedule, string | null>> = {
  none: null,
  hourly: "1 hour",
  daily: "1 day",
  weekly: "7 days",
};

export async function findRetention(sql: Sql, projectId: string): Promise<RetentionPolicy | undefined> {
  const [row] = await sql.query<{ rules: readonly RetentionRule[]; schedule: Schedule; next_at: Date | null }>(
    "select rules, schedule, next_at from retention where project_id = $1",
    [projectId],
  );
  return row && { projectId, rules: row.rules, schedule: row.schedule, nextAt: row.next_at };
}

export async function setRetention(
  sql: Sql,
  { projectId, rules, schedule }: Omit<RetentionPolicy, "nextAt">,
): Promise<void> {
  await sql.query(
    `insert into retention (project_id, rules, schedule, next_at) values ($1, $2, $3, now() + $4::interval)
     on conflict (project_id) do update set rules = excluded.rules, schedule = excluded.schedule,
       next_at = excluded.next_at, updated_at = now()`,
    [projectId, JSON.stringify(rules), schedule, INTERVALS[schedule]],
  );
}

export async function deleteRetention(sql: Sql, projectId: string): Promise<boolean> {
  const rows = await sql.query("delete from retention where project_id = $1 returning 1 as deleted", [projectId]);
  return rows.length > 0;
}

/** Retention policies whose turn it is. */
export const dueRetentions = createQueue<{ readonly project: string }>({
  table: "retention",
  key: ["project_id"],
  isOpen: "true",
  leaseSeconds: 600,
  join: { from: "project p", on: "p.id = q.project_id" },
  returning: "p.name as project",
});

interface CandidateRow {
  readonly digest: string;
  readonly tag: string | null;
  readonly pushed_at: Date;
  readonly pulled_at: Date | null;
}

/** Tags of a repository, and artifacts that have none and that neither an index nor a subject holds. */
export async function listCandidates(
  sql: Sql,
  {
    projectId,
    repositoryId,
    name,
  }: { readonly projectId: string; readonly repositoryId: string; readonly name: string },
): Promise<readonly Candidate[]> {
  const rules = (await listImmutableRules(sql, projectId)).filter(
    ({ isDisabled, repositories }) => !isDisabled && compilePattern(repositories)?.(name) === true,
  );
  const fixed = rules.map(({ tags }) => compilePattern(tags));
  const rows = await sql.query<CandidateRow>(
    `select t.digest, t.name as tag, t.pushed_at, greatest(t.pulled_at, m.pulled_at) as pulled_at
     from tag t join manifest m on m.repository_id = t.repository_id and m.digest = t.digest where t.repository_id = $1
     union all
     select m.digest, null, m.pushed_at, m.pulled_at from manifest m
     where m.repository_id = $1 and m.subject is null
       and not exists (select from tag t where t.repository_id = $1 and t.digest = m.digest)
       and not exists (select from manifest_child c where c.repository_id = $1 and c.child = m.digest)
     order by pushed_at desc, digest, tag`,
    [repositoryId],
  );
  return rows.map(({ digest, tag, pushed_at, pulled_at }) => ({
    digest,
    tag: tag ?? undefined,
    pushedAt: pushed_at,
    pulledAt: pulled_at ?? undefined,
    isImmutable: tag !== null && fixed.some((fits) => fits?.(tag) === true),
  }));
}

export interface RetentionRun {
  readonly id: number;
  readonly isDryRun: boolean;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly retained: number;
  readonly deleted: number;
  readonly decisions: readonly RunDecision[];
  readonly failure: string | null;
}

/** What went, or would go. */
export interface RunDecision {
  readonly repository: string;
  readonly digest: string;
  readonly tag: string | null;
  readonly reason: string;
}

export async function insertRun(sql: Sql, projectId: string, isDryRun: boolean): Promise<number> {
  const [row] = await sql.query<{ id: string }>(
    "insert into retention_run (project_id, dry_run) values ($1, $2) returning id",
    [projectId, isDryRun],
  );
  return Number(row?.id);
}

type RunEnd = Pick<RetentionRun, "retained" | "deleted" | "decisions" | "failure">;

/** Notes how a run ended; of each project the last hundred are kept. */
export async function endRun(sql: Sql, projectId: string, id: number, end: RunEnd): Promise<void> {
  await sql.query(
    `update retention_run set ended_at = now(), retained = $2, deleted = $3, decisions = $4, failure = $5 where id = $1`,
    [id, end.retained, end.deleted, JSON.stringify(end.decisions), end.failure],
  );
  await sql.query(
    `delete from retention_run where project_id = $1 and id < (
       select min(id) from (select id from retention_run where project_id = $1 order by id desc limit 100) last)`,
    [projectId],
  );
}

export async function listRuns(sql: Sql, projectId: string): Promise<readonly RetentionRun[]> {
  const rows = await sql.query<{
    id: string;
    dry_run: boolean;
    started_at: Date;
    ended_at: Date | null;
    retained: number;
    deleted: number;
    decisions: readonly RunDecision[];
    failure: string | null;
  }>("select * from retention_run where project_id = $1 order by id desc limit 100", [projectId]);
  return rows.map((row) => ({
    id: Number(row.id),
    isDryRun: row.dry_run,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    retained: row.retained,
    deleted: row.deleted,
    decisions: row.decisions,
    failure: row.failure,
  }));
}
