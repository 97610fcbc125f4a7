import { Counter, Gauge, type Registry } from "prom-client";

import type { Loop } from "./loop.ts";

/** What an operator wants to know of the loops of a process: how many items are at work, and how they went. */
export function measureLoops(metrics: Registry, loops: Readonly<Record<string, Pick<Loop, "counts">>>): void {
  const labelNames = ["queue"] as const;
  const registers = [metrics];
  const entries = Object.entries(loops);
  // oxlint-disable-next-line no-new -- the registry keeps it
  new Gauge({
    name: "work_running",
    help: "Items of a queue that this process has at work now",
    labelNames,
    registers,
    collect() {
      entries.forEach(([queue, loop]) => this.set({ queue }, loop.counts().running));
    },
  });
  const totals = [
    ["claimed", "Items of a queue that this process has taken"],
    ["failed", "Items of a queue whose outcome could not be noted"],
    ["lost", "Items of a queue that another worker took while this process had them at work"],
  ] as const;
  for (const [total, help] of totals) {
    // oxlint-disable-next-line no-new -- the registry keeps it
    new Counter({
      name: `work_${total}_total`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        entries.forEach(([queue, loop]) => this.inc({ queue }, loop.counts()[total]));
      },
    });
  }
}
