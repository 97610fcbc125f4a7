import { toProblem } from "@swath/service";
import { Counter, Histogram, type Registry } from "prom-client";

import { Refusal } from "./errors.ts";

/** What the gatekeeper counts. */
export interface GatekeeperMetrics {
  readonly observe: (status: number, milliseconds: number) => void;
  /** Counts a failure by its code and gives it back as a problem. */
  readonly count: (error: unknown) => ReturnType<typeof toProblem>;
}

export function createMetrics(registry: Registry): GatekeeperMetrics {
  const requests = new Histogram({
    name: "gatekeeper_request_seconds",
    help: "Time from a request's head to the end of its answer",
    labelNames: ["status"],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  });
  const refusals = new Counter({
    name: "gatekeeper_refusals_total",
    help: "Requests that did not reach a service, by reason",
    labelNames: ["code"],
    registers: [registry],
  });
  return {
    observe: (status, milliseconds) =>
      requests.observe({ status: `${Math.floor(status / 100)}xx` }, milliseconds / 1000),
    count: (error) => {
      refusals.inc({ code: error instanceof Refusal ? error.code : "ERROR" });
      return toProblem(error);
    },
  };
}
