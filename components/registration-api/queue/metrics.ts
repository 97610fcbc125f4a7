import type pg from "pg";
import { Gauge, type Registry } from "prom-client";

import { countTasks } from "../store/tasks.ts";

const STATES = ["queued", "running", "failed"] as const;

/** How many tasks wait, are at work, and were set aside for an operator to see to. */
export function measureQueue(metrics: Registry, pool: pg.Pool): void {
  // oxlint-disable-next-line no-new -- the registry keeps it
  new Gauge({
    name: "registration_tasks",
    help: "Tasks of registration that wait (queued), are at work (running) or were set aside (failed) now",
    labelNames: ["state"],
    registers: [metrics],
    async collect() {
      const counts = await countTasks(pool);
      for (const state of STATES) {
        this.set({ state }, counts[state] ?? 0);
      }
    },
  });
}
