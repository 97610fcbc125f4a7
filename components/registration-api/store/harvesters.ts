import { Cron } from "croner";
import type pg from "pg";

import type { HarvesterConfig } from "../harvest/config.ts";
import { RegistrationError } from "../queue/errors.ts";
import { addTask } from "./tasks.ts";

export interface Harvester {
  readonly name: string;
  readonly scope: string;
  readonly config: HarvesterConfig;
  readonly schedule: string | null;
  readonly enabled: boolean;
  readonly cursor: { readonly since?: string } | null;
  readonly next_at: Date | null;
  readonly created_by: string | null;
  readonly updated_at: Date;
}

const FIELDS = "name, scope, config, schedule, enabled, cursor, next_at, created_by, updated_at";
const MIN_INTERVAL_SECONDS = 1;

/** Keeps a harvester; one of the same name is replaced, and starts from the beginning when its source is another. */
export async function putHarvester(
  pool: pg.Pool,
  {
    scope,
    config,
    createdBy,
  }: { readonly scope: string; readonly config: HarvesterConfig; readonly createdBy?: string },
): Promise<void> {
  const { schedule = null } = config;
  const next = schedule === null ? null : nextRun(schedule, new Date(0), new Date());
  // Unchanged documents mean other records when the harvester is another.
  await pool.query(
    `delete from read_document d using harvester h where d.scope = $1 and d.harvester = $2 and h.scope = $1 and h.name = $2
       and h.config - 'schedule' <> $3::jsonb - 'schedule'`,
    [scope, config.name, JSON.stringify(config)],
  );
  await pool.query(
    `insert into harvester as h (scope, name, config, schedule, next_at, created_by) values ($1, $2, $3, $4, $5, $6)
     on conflict (scope, name) do update set config = excluded.config, schedule = excluded.schedule, next_at = excluded.next_at,
       enabled = true, updated_at = now(),
       watched = case when h.config->'resource' = excluded.config->'resource' then h.watched end,
       cursor = case when h.config->'resource' = excluded.config->'resource' then h.cursor end`,
    [scope, config.name, JSON.stringify(config), schedule, next, createdBy ?? null],
  );
  await resumeRun(pool, { scope, name: config.name });
}

export async function findHarvester(pool: pg.Pool, scope: string, name: string): Promise<Harvester | undefined> {
  const { rows } = await pool.query<Harvester>(`select ${FIELDS} from harvester where scope = $1 and name = $2`, [
    scope,
    name,
  ]);
  return rows[0];
}

export async function listHarvesters(pool: pg.Pool, scope: string): Promise<readonly Harvester[]> {
  const { rows } = await pool.query<Harvester>(
    `select ${FIELDS} from harvester where scope = $1 order by name limit 1000`,
    [scope],
  );
  return rows;
}

/** Names of the platform's harvesters that somebody made. */
export async function listCreatedBy(pool: pg.Pool, createdBy: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "select name from harvester where scope = '' and created_by = $1 order by name",
    [createdBy],
  );
  return rows.map(({ name }) => name);
}

export async function deleteHarvester(pool: pg.Pool, scope: string, name: string): Promise<boolean> {
  await pool.query("delete from watched_object where scope = $1 and harvester = $2", [scope, name]);
  await pool.query("delete from read_document where scope = $1 and harvester = $2", [scope, name]);
  await pool.query("delete from harvested_link where scope = $1 and harvester = $2", [scope, name]);
  const { rowCount } = await pool.query("delete from harvester where scope = $1 and name = $2", [scope, name]);
  return rowCount === 1;
}

export async function setCursor(pool: pg.Pool, { scope, name }: Harvester, since: string): Promise<void> {
  await pool.query("update harvester set cursor = $3 where scope = $1 and name = $2", [
    scope,
    name,
    JSON.stringify({ since }),
  ]);
}

/** A task that runs a harvester. Runs of one harvester follow each other. */
export function addRun(
  db: Pick<pg.Pool, "query">,
  { scope, name }: { readonly scope: string; readonly name: string },
  { requestedBy, key }: { readonly requestedBy?: string; readonly key?: string } = {},
): Promise<string> {
  return addTask(db, {
    kind: "harvest",
    scope,
    orderKey: `harvester ${name}`,
    payload: { harvester: name },
    ...(requestedBy !== undefined && { requestedBy }),
    ...(key !== undefined && { idempotencyKey: key }),
  });
}

/** Has a run that failed and waits for its next attempt go on at once: what was in its way may be mended. */
export async function resumeRun(
  db: Pick<pg.Pool, "query">,
  { scope, name }: { readonly scope: string; readonly name: string },
): Promise<void> {
  await db.query(
    "update task set due_at = now() where kind = 'harvest' and order_key = $1 and state = 'queued' and due_at > now()",
    [`${scope} harvester ${name}`],
  );
}

/** Has a harvester whose last run failed for good run again now, rather than at its next time: what failed may be corrected. */
export async function repeatFailedRun(
  pool: pg.Pool,
  { scope, name }: { readonly scope: string; readonly name: string },
): Promise<void> {
  const { rows } = await pool.query<{ id: string; state: string }>(
    "select id, state from task where kind = 'harvest' and order_key = $1 order by id desc limit 1",
    [`${scope} harvester ${name}`],
  );
  if (rows[0]?.state === "failed") {
    await addRun(pool, { scope, name }, { key: `${scope} ${name} after ${rows[0].id}` });
  }
}

/** Starts the harvesters whose time has come; several workers start each once. */
export async function startDueHarvesters(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<Harvester>(
    `select ${FIELDS} from harvester where enabled and next_at <= now() order by next_at limit 20`,
  );
  for (const harvester of rows) {
    const { scope, name, next_at: due, schedule } = harvester;
    const open = await pool.query(
      "select 1 from task where order_key = $1 and state in ('queued', 'running') limit 1",
      [`${scope} harvester ${name}`],
    );
    // A run that takes longer than its interval is not started twice.
    if (open.rowCount === 0) {
      await addRun(pool, harvester, { key: `${scope} ${name} ${due?.toISOString() ?? ""}` });
    }
    const next = schedule === null ? null : nextRun(schedule, due ?? new Date(), new Date());
    await pool.query("update harvester set next_at = $3 where scope = $1 and name = $2 and next_at = $4", [
      scope,
      name,
      next,
      due,
    ]);
  }
  return rows.length;
}

/**
 * When a schedule is due after a run: a cron expression (`0 3 * * *`, UTC), or an interval (`90s`, `15m`, `12h`, `1d`).
 * @throws {RegistrationError}
 */
export function nextRun(schedule: string, last: Date, now: Date): Date {
  const [, amount, unit = "s"] = /^(\d+)\s*(s|m|h|d)?$/.exec(schedule.trim()) ?? [];
  if (amount !== undefined) {
    const seconds = Number(amount) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? 1);
    if (seconds < MIN_INTERVAL_SECONDS) {
      throw new RegistrationError(`The interval ${schedule} must be at least ${MIN_INTERVAL_SECONDS} s.`);
    }
    return new Date(Math.max(last.getTime() + seconds * 1000, now.getTime()));
  }
  try {
    const next = new Cron(schedule, { timezone: "UTC" }).nextRun(now);
    if (next !== null) {
      return next;
    }
  } catch {
    // Said below.
  }
  throw new RegistrationError(
    `The schedule ${JSON.stringify(schedule)} must be a cron expression such as "0 3 * * *", or an interval such as 15m.`,
  );
}
