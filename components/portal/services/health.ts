import { setTimeout as sleep } from "node:timers/promises";

import type { Registry, Service } from "./registry.ts";

/** How a service does. */
export interface Health {
  readonly status: "up" | "down";
  /** Why it is down. */
  readonly reason?: string;
  /** Milliseconds to the head of its answer. */
  readonly ms?: number;
  /** ISO 8601. */
  readonly checkedAt: string;
}

export interface HealthWatch {
  /** How every service does, asked at most every few seconds however many people look. */
  readonly look: () => Promise<ReadonlyMap<string, Health>>;
}

/** Milliseconds a look is good for. */
const GOOD_FOR = 4000;
const PATIENCE = 3000;

export function createHealthWatch({ all }: Registry, clock: () => number = Date.now): HealthWatch {
  let last: { readonly at: number; readonly result: Promise<ReadonlyMap<string, Health>> } | undefined;
  return {
    look: () => {
      const now = clock();
      if (last === undefined || now - last.at > GOOD_FOR) {
        const result = Promise.all(all.map(async (service) => [service.id, await ask(service)] as const));
        last = { at: now, result: result.then((pairs) => new Map(pairs)) };
      }
      return last.result;
    },
  };
}

async function ask(service: Service): Promise<Health> {
  const started = performance.now();
  const checkedAt = new Date().toISOString();
  const first = await askOnce(service);
  // A service that is being replaced refuses for a moment what its successor takes.
  const result = first.isUp ? first : await sleep(300).then(() => askOnce(service));
  return result.isUp
    ? { status: "up", ms: Math.round(performance.now() - started), checkedAt }
    : { status: "down", reason: result.reason, checkedAt };
}

async function askOnce({ direct, health, host }: Service): Promise<{ isUp: true } | { isUp: false; reason: string }> {
  try {
    const { statusCode, body } = await direct.dispatcher.request({
      origin: direct.origin,
      path: `${direct.prefix}${health}`,
      method: "GET",
      headers: { host, accept: "*/*" },
      signal: AbortSignal.timeout(PATIENCE),
    });
    await body.dump();
    return statusCode < 500 ? { isUp: true } : { isUp: false, reason: `it answers ${statusCode}` };
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    return { isUp: false, reason: isLate ? `no answer within ${PATIENCE / 1000} seconds` : "it cannot be reached" };
  }
}
