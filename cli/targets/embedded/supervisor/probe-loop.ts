import type { Workload } from "@swath/manifest";

import { probeAlive, probeReady } from "./probe.ts";

export interface ProbeLoop {
  readonly stop: () => void;
}

interface ProbeEvents {
  readonly onReady: (ready: boolean, reason?: string) => void;
  /** It has stopped answering; it should be killed. */
  readonly onDead: (reason: string) => void;
}

const FIRST_INTERVAL_MS = 15;
const SLOWEST_START_INTERVAL_MS = 500;
const INTERVAL_MS = 5000;
/** Failed readiness probes in a row that take a ready pod out of service. */
const UNREADY_AFTER = 2;
/** Failed liveness probes in a row after which a pod that was alive is killed. */
const DEAD_AFTER = 6;
/** A pod that has not once been alive is killed after this long. */
const START_LIMIT_MS = 120_000;

/** Asks a pod whether it can serve: often while it starts, seldom afterwards. */
export function startProbes(workload: Workload, directory: string, { onReady, onDead }: ProbeEvents): ProbeLoop {
  const started = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let ready = false;
  let wasAlive = false;
  let unready = 0;
  let lastFailure: string | undefined;
  let dead = 0;
  let interval = FIRST_INTERVAL_MS;

  const schedule = (milliseconds: number) => {
    if (!stopped) {
      timer = setTimeout(() => void probe(), milliseconds);
    }
  };
  const probe = async () => {
    const failure = await probeReady(workload, directory).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (stopped) {
      return;
    }
    if (failure === undefined) {
      wasAlive = true;
      unready = dead = 0;
      if (!ready) {
        ready = true;
        onReady(true);
      }
      schedule(INTERVAL_MS);
      return;
    }
    unready += 1;
    const isNew = failure !== lastFailure;
    lastFailure = failure;
    if (ready ? unready >= UNREADY_AFTER : unready === 1 || isNew) {
      ready = false;
      onReady(false, failure);
    }
    await checkAlive();
    interval = Math.min(interval * 1.25, SLOWEST_START_INTERVAL_MS);
    schedule(interval);
  };
  const checkAlive = async () => {
    try {
      await probeAlive(workload, directory);
      wasAlive = true;
      dead = 0;
    } catch (error) {
      dead += 1;
      const tooLong = wasAlive
        ? dead >= DEAD_AFTER && interval >= SLOWEST_START_INTERVAL_MS
        : Date.now() - started > START_LIMIT_MS;
      if (!stopped && tooLong) {
        onDead((error as Error).message);
      }
    }
  };
  schedule(FIRST_INTERVAL_MS);
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
