import { sql, type Kysely } from "kysely";
import { Counter, Gauge, type Registry } from "prom-client";

import type { JobChanges } from "./execution/job-changes.ts";
import { ENDED_STATUSES, OPEN_LIST, OPEN_STATUSES, hasEnded } from "./store/job-states.ts";
import type { Tables } from "./store/tables.ts";

/** What an operator wants to know of the jobs: how many wait, how long already, how they end. */
export function measureJobs(metrics: Registry, db: Kysely<Tables>, changes: Pick<JobChanges, "follow">): void {
  const registers = [metrics];
  const ended = new Counter({
    name: "processing_jobs_ended_total",
    help: "Jobs that ended since this process started, as it was told",
    labelNames: ["status"],
    registers,
  });
  ENDED_STATUSES.forEach((status) => ended.inc({ status }, 0));
  changes.follow((change) => {
    if (change !== undefined && hasEnded(change.status)) {
      ended.inc({ status: change.status });
    }
  });
  // oxlint-disable-next-line no-new -- the registry keeps it
  new Gauge({
    name: "processing_jobs",
    help: "Jobs that wait (accepted) or are at work (running) now",
    labelNames: ["status"],
    registers,
    async collect() {
      const { rows } = await sql<{ status: string; count: number }>`
        select status, count(*)::int as count from job where status in ${OPEN_LIST} group by status`.execute(db);
      for (const status of OPEN_STATUSES) {
        this.set({ status }, rows.find((row) => row.status === status)?.count ?? 0);
      }
    },
  });
  // oxlint-disable-next-line no-new -- the registry keeps it
  new Gauge({
    name: "processing_longest_wait_seconds",
    help: "Time that the job which waits longest has waited, in seconds; 0 when none waits",
    registers,
    async collect() {
      const { rows } = await sql<{ seconds: number | null }>`
        select extract(epoch from now() - min(created_at))::float8 as seconds from job where status = 'accepted'`.execute(
        db,
      );
      this.set(rows[0]?.seconds ?? 0);
    },
  });
}
