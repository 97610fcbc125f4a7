import { Gauge, type Registry } from "prom-client";

import type { Snapshots } from "../store/snapshots/snapshots.ts";

/** How many snapshots there are, and when the newest was made: an alarm on its age notices a schedule that fails. */
export function addSnapshotGauges(metrics: Registry, snapshots: Pick<Snapshots, "list">): void {
  const registers = [metrics];
  const newest = new Gauge({
    name: "objstore_snapshot_newest_timestamp_seconds",
    help: "When the newest snapshot was made, in seconds since 1970; 0: there is none",
    registers,
  });
  const count: Gauge = new Gauge({
    name: "objstore_snapshots",
    help: "Snapshots that are kept",
    registers,
    collect: async () => {
      const listed = await snapshots.list();
      count.set(listed.length);
      newest.set(listed[0] === undefined ? 0 : Date.parse(listed[0].created) / 1000);
    },
  });
}
