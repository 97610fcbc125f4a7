import { createQueue } from "@swath/work";
import type pg from "pg";

import { toText } from "./to-text.ts";

export const TASK_CHANNEL = "registration_task";
export const TASK_STATES = ["queued", "running", "done", "failed", "superseded", "cancelled"] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** What is to be done, as it is accepted. */
export interface NewTask {
  readonly kind: string;
  /** The workspace that it goes to; empty: the platform. */
  readonly scope: string;
  /** Tasks of one key are carried out in the order in which they were accepted. */
  readonly orderKey: string;
  readonly payload: object;
  readonly requestedBy?: string;
  /** The same key twice is the same task. */
  readonly idempotencyKey?: string;
}

export interface TaskResult {
  readonly registered: number;
  readonly unchanged: number;
  readonly removed: number;
  readonly failed: number;
  /** The first records by their collection and id. */
  readonly records?: readonly string[];
}

export interface Task {
  readonly id: string;
  readonly kind: string;
  readonly scope: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly state: TaskState;
  readonly attempts: number;
  readonly due_at: Date;
  readonly reason: string | null;
  readonly result: TaskResult | null;
  readonly position: Readonly<Record<string, unknown>> | null;
  readonly requested_by: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

/** A task that this worker holds. */
export interface ClaimedTask extends Task {
  readonly lease: string;
}

const FIELDS =
  "id, kind, scope, payload, state, attempts, due_at, reason, result, position, requested_by, created_at, started_at, finished_at";

const MAX_REASON_LENGTH = 4000;

/** Time that a worker may be silent before its task is given to another. */
export const LEASE_SECONDS = 60;

/**
 * Accepts a task: once this returns it is not lost. An earlier one of its key that failed does not wait for its next attempt any more, which this
 * one would have to wait for, too: the same request is superseded, another one due at once.
 * @returns its id
 */
export async function addTask(db: Pick<pg.Pool, "query">, task: NewTask): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `with added as (
       insert into task (kind, scope, order_key, payload, requested_by, idempotency_key) values ($1, $2, $3, $4, $5, $6)
       on conflict (idempotency_key) do update set idempotency_key = excluded.idempotency_key returning id
     ), waiting as (
       update task set due_at = now(),
         (state, finished_at) = (select case when same then 'superseded' else 'queued' end, case when same then now() end
           from (select kind = $1 and kind <> 'harvest' and payload = $4::jsonb as same) as compared)
       where order_key = $3 and state = 'queued' and due_at > now() and attempts > 0 and id < (select id from added)
     ) select id from added`,
    [
      task.kind,
      task.scope,
      `${task.scope} ${task.orderKey}`,
      JSON.stringify(task.payload),
      task.requestedBy ?? null,
      task.idempotencyKey ?? null,
    ],
  );
  return (rows[0] as { id: string }).id;
}

/** Whom a task is for. */
export const requesterOf = ({ scope, requested_by: name }: Pick<Task, "scope" | "requested_by">): string =>
  `${scope} ${name ?? ""}`;

export interface ClaimOptions {
  /** Made by the caller, so that a claim whose response was lost can be given back. */
  readonly lease: string;
  /** Requesters that are served already: only a task of another one is taken, and no harvest, which may be long. */
  readonly others?: readonly string[];
}

/** Tasks that are due, the one that has waited longest first; none of a key of which an earlier one is open. */
const taskQueue = createQueue<Task>({
  table: "task",
  key: ["id"],
  isOpen: `q.state = 'queued'
    and ($2::text[] is null or q.kind <> 'harvest' and q.scope || ' ' || coalesce(q.requested_by, '') <> all($2))
    and not exists (select from task b where b.order_key = q.order_key and b.id < q.id and b.state in ('queued', 'running'))`,
  dueAt: "due_at",
  leaseUntil: "lease_until",
  leaseSeconds: LEASE_SECONDS,
  onClaim: "state = 'running', attempts = q.attempts + 1, lease = $3, started_at = coalesce(q.started_at, now())",
  order: "q.due_at, q.id",
  returning: FIELDS.split(", ")
    .map((field) => `q.${field}`)
    .join(", "),
});

/** Takes tasks, at most `limit`. */
export async function claimTasks(
  pool: pg.Pool,
  limit: number,
  { lease, others }: ClaimOptions,
): Promise<readonly ClaimedTask[]> {
  const claims = await taskQueue.claim(pool, limit, [others ?? null, lease]);
  return claims.map(({ row }) => ({ ...row, lease }));
}

/** Gives back what a claim may have taken whose response was lost: nobody works on it. */
export async function releaseTask(pool: pg.Pool, lease: string): Promise<void> {
  await pool.query(
    `update task set state = 'queued', attempts = attempts - 1, lease = null, lease_until = null
     where lease = $1 and state = 'running'`,
    [lease],
  );
}

/** Gives tasks of workers that fell silent to others; those that ended too many workers are set aside. */
export async function reclaimTasks(pool: pg.Pool, maxAttempts: number): Promise<number> {
  const { rowCount } = await pool.query(
    `update task set lease = null, lease_until = null,
       state = case when attempts >= $1 then 'failed' else 'queued' end,
       finished_at = case when attempts >= $1 then now() end,
       reason = case when attempts >= $1
         then format('The worker ended %s times while it worked on this; repeat it when the cause is mended.', attempts)
         else 'The worker ended while it worked on this.' end
     where state = 'running' and lease_until < now()`,
    [maxAttempts],
  );
  return rowCount ?? 0;
}

/** Keeps a task and notes how far it is. @returns whether it is still this worker's and wanted */
export async function renewLease(
  pool: pg.Pool,
  { id, lease }: ClaimedTask,
  progress: { readonly result?: TaskResult; readonly position?: object } = {},
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update task set lease_until = now() + make_interval(secs => $3), result = coalesce($4, result), position = coalesce($5, position),
       -- Attempts are those without progress.
       attempts = case when $5::jsonb is null then attempts else 1 end
     where id = $1 and lease = $2 and state = 'running'`,
    [
      id,
      lease,
      LEASE_SECONDS,
      progress.result === undefined ? null : JSON.stringify(progress.result),
      progress.position === undefined ? null : JSON.stringify(progress.position),
    ],
  );
  return rowCount === 1;
}

interface TaskEnd {
  readonly state: TaskState;
  readonly reason?: string;
  readonly result?: TaskResult;
}

export async function endTask(
  pool: pg.Pool,
  { id, lease }: ClaimedTask,
  { state, reason, result }: TaskEnd,
): Promise<void> {
  await pool.query(
    `update task set state = $3, reason = $4, result = coalesce($5, result), position = null, lease = null, lease_until = null,
       finished_at = now() where id = $1 and lease = $2 and state = 'running'`,
    [
      id,
      lease,
      state,
      reason === undefined ? null : toText(reason, MAX_REASON_LENGTH),
      result === undefined ? null : JSON.stringify(result),
    ],
  );
  if (state === "done") {
    // What was set aside before it for the same thing needs nobody any more.
    await pool.query(
      `update task set state = 'superseded' where state = 'failed' and kind <> 'harvest' and id < $1
         and order_key = (select order_key from task where id = $1)`,
      [id],
    );
  }
}

/** Tries again later, unless a later task of the same key makes that pointless. */
export async function postponeTask(
  pool: pg.Pool,
  { id, lease }: ClaimedTask,
  { reason, seconds }: { readonly reason: string; readonly seconds: number },
): Promise<void> {
  await pool.query(
    `update task t set lease = null, lease_until = null, reason = $3,
       state = case when later.id is null then 'queued' else 'superseded' end,
       finished_at = case when later.id is null then null else now() end,
       due_at = now() + make_interval(secs => $4)
     from (select 1) one left join lateral (
       select l.id from task l where l.id > $1 and l.state = 'queued' and l.order_key = (select order_key from task where id = $1) limit 1
     ) later on true
     where t.id = $1 and t.lease = $2 and t.state = 'running'`,
    [id, lease, toText(reason, MAX_REASON_LENGTH), seconds],
  );
}

/** Milliseconds until a task is due or a lease runs out. */
export async function untilNextTask(pool: pg.Pool): Promise<number | undefined> {
  const { rows } = await pool.query<{ ms: number | null }>(
    `select extract(epoch from least(
       (select min(due_at) from task where state = 'queued' and due_at > now()),
       (select min(lease_until) from task where state = 'running')) - now())::float8 * 1000 as ms`,
  );
  return rows[0]?.ms ?? undefined;
}

export async function findTask(pool: pg.Pool, id: string): Promise<Task | undefined> {
  const { rows } = await pool.query<Task>(`select ${FIELDS} from task where id = $1`, [id]);
  return rows[0];
}

export interface TaskFilter {
  readonly scope?: string;
  readonly state?: TaskState;
  readonly kind?: string;
  /** Tasks accepted before this one. */
  readonly before?: string;
  readonly limit: number;
}

/** Without documents that came with requests: a page of them would be large. */
const LISTED_FIELDS = FIELDS.replace(
  "payload",
  `payload - array['document', 'xml']
     || case when payload ? 'document' then jsonb_build_object('document', jsonb_build_object('id', payload->'document'->'id')) else '{}' end
     as payload`,
);

/** The latest first. */
export async function listTasks(
  pool: pg.Pool,
  { scope, state, kind, before, limit }: TaskFilter,
): Promise<readonly Task[]> {
  const { rows } = await pool.query<Task>(
    `select ${LISTED_FIELDS} from task where ($1::text is null or scope = $1) and ($2::text is null or state = $2)
       and ($3::text is null or kind = $3) and ($4::bigint is null or id < $4) order by id desc limit $5`,
    [scope ?? null, state ?? null, kind ?? null, before ?? null, limit],
  );
  return rows;
}

/**
 * Repeats a task that was set aside, with the mended members of its request. It keeps its place: what was accepted later still wins.
 */
export async function repeatTask(pool: pg.Pool, id: string, repair: object = {}): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update task set state = 'queued', attempts = 0, due_at = now(), finished_at = null, reason = null, payload = payload || $2
     where id = $1 and state in ('failed', 'cancelled')`,
    [id, JSON.stringify(repair)],
  );
  if (rowCount === 1) {
    await pool.query("select pg_notify($1, '')", [TASK_CHANNEL]);
  }
  return rowCount === 1;
}

/** Repeats all that were set aside. @returns how many */
export async function repeatFailed(
  pool: pg.Pool,
  { kind, scope }: { readonly kind?: string; readonly scope?: string },
): Promise<number> {
  const { rowCount } = await pool.query(
    `update task set state = 'queued', attempts = 0, due_at = now(), finished_at = null, reason = null
     where state = 'failed' and ($1::text is null or kind = $1) and ($2::text is null or scope = $2)`,
    [kind ?? null, scope ?? null],
  );
  if ((rowCount ?? 0) > 0) {
    await pool.query("select pg_notify($1, '')", [TASK_CHANNEL]);
  }
  return rowCount ?? 0;
}

/** Gives a task up. One at work stops at its next step. */
export async function cancelTask(pool: pg.Pool, id: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update task set state = 'cancelled', finished_at = now(), lease = null, lease_until = null, reason = 'Cancelled by request.'
     where id = $1 and state in ('queued', 'running')`,
    [id],
  );
  return rowCount === 1;
}

/** The last run of each harvester, by its name. */
export async function listLastRuns(pool: pg.Pool, scope: string): Promise<ReadonlyMap<string, Task>> {
  const { rows } = await pool.query<Task>(
    `select r.* from harvester h cross join lateral (
       select ${FIELDS} from task t where t.kind = 'harvest' and t.order_key = h.scope || ' harvester ' || h.name order by id desc limit 1
     ) r where h.scope = $1`,
    [scope],
  );
  return new Map(rows.map((task) => [String(task.payload["harvester"]), task]));
}

export async function countTasks(pool: pg.Pool): Promise<Readonly<Record<string, number>>> {
  const { rows } = await pool.query<{ state: string; count: number }>(
    "select state, count(*)::int as count from task where state in ('queued', 'running', 'failed') group by state",
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

/** Forgets finished tasks; those that were set aside stay until somebody sees to them. */
export async function removeOldTasks(pool: pg.Pool, days: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from task where id in (
       select id from task where state in ('done', 'superseded', 'cancelled') and finished_at < now() - make_interval(days => $1) limit 10000)`,
    [days],
  );
  return rowCount ?? 0;
}
