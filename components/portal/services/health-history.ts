import type { HealthChecker } from "./health.ts";

/** How a service did in a stretch of time. */
export interface HealthSample {
  /** ISO 8601. */
  readonly at: string;
  readonly up: boolean;
  /** Milliseconds to the head of its answer; left out when it did not answer. */
  readonly ms?: number;
}

export interface HealthHistory {
  /** By service, the oldest first; since the portal started, a day at most. */
  readonly read: () => Readonly<Record<string, readonly HealthSample[]>>;
  readonly close: () => void;
}

const INTERVAL_MS = 60_000;
/** The whole platform may have been started with the portal: what still starts is not down. */
const FIRST_LOOK_MS = 20_000;
const MAX_SAMPLES = 24 * 60;

/** Looks at every service once a minute and keeps a day of it in memory. */
export function createHealthHistory(watch: HealthChecker, intervalMs: number = INTERVAL_MS): HealthHistory {
  const samples = new Map<string, HealthSample[]>();
  const look = async () => {
    for (const [id, { status, ms, checkedAt }] of await watch.look()) {
      const own = samples.get(id) ?? [];
      own.push({ at: checkedAt, up: status === "up", ...(ms !== undefined && { ms }) });
      own.splice(0, own.length - MAX_SAMPLES);
      samples.set(id, own);
    }
  };
  // A look never fails: a service that does not answer is what it tells.
  const first = setTimeout(() => void look(), Math.min(FIRST_LOOK_MS, intervalMs)).unref();
  const timer = setInterval(() => void look(), intervalMs).unref();
  return {
    read: () => Object.fromEntries(samples),
    close: () => {
      clearTimeout(first);
      clearInterval(timer);
    },
  };
}
