import { type Lease, createQueue } from "@swath/work";

import type { Sql } from "./database.ts";

export type RunState = "waiting" | "running" | "succeeded" | "failed" | "stopped";
export type TaskState = "waiting" | "succeeded" | "skipped" | "failed";

/** One time that a replication is done, with how far it is. */
export interface ReplicationRun {
  readonly id: string;
  readonly replicationId: string;
  readonly reason: "manual" | "scheduled";
  readonly actor: string;
  readonly state: RunState;
  readonly failure: string | undefined;
  readonly createdAt: Date;
  readonly endedAt: Date | undefined;
  readonly tasks: Readonly<Record<TaskState, number>>;
  readonly bytes: number;
}

/** A tag to copy. */
export interface ReplicationTask {
  readonly position: number;
  /** Repositories at both ends. */
  readonly source: string;
  readonly tag: string;
  readonly target: string;
  readonly state: TaskState;
  readonly bytes: number;
  readonly said: string | undefined;
  readonly endedAt: Date | undefined;
}

interface RunRow {
  readonly id: string;
  readonly replication_id: string;
  readonly reason: "manual" | "scheduled";
  readonly actor: string;
  readonly state: RunState;
  readonly failure: string | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
  readonly tasks: Readonly<Partial<Record<TaskState, number>>> | null;
  readonly bytes: string | null;
}

const LEASE_SECONDS = 30;
export const RENEW_MS = 8000;
const RUNS_KEPT = 100;

/** Asks for a run; gives the one that is under way where there is one. */
export async function insertRun(
  tx: Sql,
  replicationId: string,
  { reason, actor }: { readonly reason: "manual" | "scheduled"; readonly actor: string },
): Promise<string> {
  // Two that ask at once wait for each other here.
  await tx.query("select from replication where id = $1 for update", [replicationId]);
  const [open] = await tx.query<{ id: string }>(
    "select id from replication_run where replication_id = $1 and state in ('waiting', 'running')",
    [replicationId],
  );
  if (open !== undefined) {
    return open.id;
  }
  const [row] = await tx.query<{ id: string }>(
    "insert into replication_run (replication_id, reason, actor) values ($1, $2, $3) returning id",
    [replicationId, reason, actor],
  );
  await tx.query(
    `delete from replication_run where replication_id = $1 and id not in (
       select id from replication_run where replication_id = $1 order by id desc limit ${RUNS_KEPT})`,
    [replicationId],
  );
  await tx.query("notify registry_replication");
  return (row as { id: string }).id;
}

export async function listReplicationRuns(
  sql: Sql,
  { replicationId, id }: { readonly replicationId?: string | undefined; readonly id?: string | undefined },
): Promise<readonly ReplicationRun[]> {
  const rows = await sql.query<RunRow>(
    `select r.id, r.replication_id, r.reason, r.actor, r.state, r.failure, r.created_at, r.ended_at,
       (select json_object_agg(state, n) from (
          select state, count(*) as n from replication_task t where t.run_id = r.id group by state) c) as tasks,
       (select sum(bytes) from replication_task t where t.run_id = r.id) as bytes
     from replication_run r where ($1::bigint is null or r.replication_id = $1) and ($2::bigint is null or r.id = $2)
     order by r.id desc limit ${RUNS_KEPT}`,
    [replicationId ?? null, id ?? null],
  );
  return rows.map((row) => ({
    id: row.id,
    replicationId: row.replication_id,
    reason: row.reason,
    actor: row.actor,
    state: row.state,
    failure: row.failure ?? undefined,
    createdAt: row.created_at,
    endedAt: row.ended_at ?? undefined,
    tasks: { waiting: 0, succeeded: 0, skipped: 0, failed: 0, ...row.tasks },
    bytes: Number(row.bytes ?? 0),
  }));
}

export async function listTasks(
  sql: Sql,
  runId: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly ReplicationTask[]> {
  const rows = await sql.query<Omit<ReplicationTask, "bytes" | "said" | "endedAt"> & TaskColumns>(
    "select * from replication_task where run_id = $1 order by position offset $2 limit $3",
    [runId, offset, limit],
  );
  return rows.map(({ position, source, tag, target, state, bytes, said, ended_at }) => ({
    position,
    source,
    tag,
    target,
    state,
    bytes: Number(bytes),
    said: said ?? undefined,
    endedAt: ended_at ?? undefined,
  }));
}

interface TaskColumns {
  readonly bytes: string;
  readonly said: string | null;
  readonly ended_at: Date | null;
}

export interface ClaimedRun {
  readonly id: string;
  readonly replicationId: string;
  readonly isPlanned: boolean;
}

/** Runs without a worker: new ones, and those whose worker has died. */
export const runQueue = createQueue<ClaimedRun>({
  table: "replication_run",
  key: ["id"],
  isOpen: "q.state in ('waiting', 'running')",
  dueAt: "created_at",
  leaseUntil: "leased_until",
  leaseSeconds: LEASE_SECONDS,
  onClaim: "state = 'running'",
  order: "q.id",
  returning: `q.id, q.replication_id as "replicationId",
    exists (select from replication_task t where t.run_id = q.id) as "isPlanned"`,
});

export async function insertTasks(
  sql: Sql,
  runId: string,
  tasks: readonly Pick<ReplicationTask, "source" | "tag" | "target">[],
): Promise<void> {
  await sql.query(
    `insert into replication_task (run_id, position, source, tag, target)
     select $1, t.position, t.source, t.tag, t.target
     from unnest($2::text[], $3::text[], $4::text[]) with ordinality t(source, tag, target, position)`,
    [runId, tasks.map(({ source }) => source), tasks.map(({ tag }) => tag), tasks.map(({ target }) => target)],
  );
}

export async function findOpenTask(sql: Sql, runId: string): Promise<ReplicationTask | undefined> {
  const [row] = await sql.query<{ position: number }>(
    "select position from replication_task where run_id = $1 and state = 'waiting' order by position limit 1",
    [runId],
  );
  return row && (await listTasks(sql, runId, { offset: row.position - 1, limit: 1 }))[0];
}

export async function endTask(
  sql: Sql,
  runId: string,
  { position, state, bytes, said }: Pick<ReplicationTask, "position" | "state" | "bytes" | "said">,
): Promise<void> {
  await sql.query(
    "update replication_task set state = $3, bytes = $4, said = $5, ended_at = now() where run_id = $1 and position = $2",
    [runId, position, state, bytes, said?.slice(0, 500) ?? null],
  );
}

/** Ends a run; undefined as failure: as its tasks went. */
export async function endReplicationRun(lease: Lease, failure: string | undefined): Promise<void> {
  await lease.end(
    `ended_at = now(), failure = $1, state = case when $1::text is not null or exists (
       select from replication_task t where t.run_id = replication_run.id and t.state = 'failed') then 'failed' else 'succeeded' end`,
    [failure?.slice(0, 500) ?? null],
  );
}

/** False when it had ended already. */
export async function stopRun(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.query(
    `update replication_run set state = 'stopped', ended_at = now(), leased_until = null
     where id = $1 and state in ('waiting', 'running')
     returning 1 as stopped`,
    [id],
  );
  return rows.length > 0;
}
