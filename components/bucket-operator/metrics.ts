import type { Kysely } from "kysely";
import { Gauge, type Registry } from "prom-client";

import { countBuckets } from "./store/buckets.ts";
import type { Tables } from "./store/tables.ts";

/** Buckets by the reason of their condition. */
export function measureBuckets(metrics: Registry, db: Kysely<Tables>): void {
  const buckets = new Gauge({
    name: "bucket_operator_buckets",
    help: "Buckets, by the reason of their condition",
    labelNames: ["reason"],
    registers: [metrics],
    collect: async () => {
      buckets.reset();
      for (const { reason, count } of await countBuckets(db)) {
        buckets.set({ reason }, count);
      }
    },
  });
}
