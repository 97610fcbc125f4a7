import type pg from "pg";

import { removeOldChanges } from "./changes.ts";

const INTERVAL_MS = 60_000;
/**
 * Records that must have been loaded for statistics to be gathered at once; later, as many again as there were. In between PostgreSQL gathers
 * them in its own time.
 */
const MANY_RECORDS = 5000;

export interface Maintenance {
  /** Says that many records have been loaded: searches are planned by what there is. */
  readonly noteLoaded: (records: number) => void;
  readonly close: () => Promise<void>;
}

interface MaintenanceOptions {
  readonly pool: pg.Pool;
  readonly changeRetentionDays: number;
  readonly onError: (error: Error) => void;
}

/** What is done from time to time, by whichever process comes first. */
export function startMaintenance({ pool, changeRetentionDays, onError }: MaintenanceOptions): Maintenance {
  let running: Promise<unknown> = Promise.resolve();
  let loaded = 0;
  let enough = MANY_RECORDS;
  const run = (work: () => Promise<unknown>): void => {
    running = running.then(work).catch((error: unknown) => onError(error as Error));
  };
  const timer = setInterval(() => run(() => removeOldChanges(pool, changeRetentionDays)), INTERVAL_MS);
  timer.unref();
  return {
    noteLoaded: (records) => {
      loaded += records;
      if (loaded >= enough) {
        loaded = 0;
        // Until it is known how many there are.
        enough = Infinity;
        run(async () => {
          try {
            enough = Math.max(MANY_RECORDS, await gatherStatistics(pool));
          } finally {
            enough = Number.isFinite(enough) ? enough : MANY_RECORDS;
          }
        });
      }
    },
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

/** Resolves to how many records there are, as PostgreSQL reckons. */
async function gatherStatistics(pool: pg.Pool): Promise<number> {
  await pool.query("analyze record");
  const { rows } = await pool.query<{ total: number }>(
    `select coalesce(sum(greatest(c.reltuples, 0)), 0)::float8 as total
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'record'::regclass`,
  );
  return rows[0]?.total ?? 0;
}
