import type pg from "pg";

import { removeOldChanges } from "./changes.ts";

const INTERVAL_MS = 60_000;
/** Records that must have been loaded for statistics to be gathered at once. */
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
  const run = (work: () => Promise<unknown>): void => {
    running = running.then(work).catch((error: unknown) => onError(error as Error));
  };
  const timer = setInterval(() => run(() => removeOldChanges(pool, changeRetentionDays)), INTERVAL_MS);
  timer.unref();
  return {
    noteLoaded: (records) => {
      loaded += records;
      if (loaded >= MANY_RECORDS) {
        loaded = 0;
        run(() => pool.query("analyze record"));
      }
    },
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
