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

export interface HealthChecker {
  /** How every service does, asked at most every few seconds however many people look. */
  readonly look: () => Promise<ReadonlyMap<string, Health>>;
}

/** Milliseconds a look is good for. */
const CACHE_TTL_MS = 4000;
const TIMEOUT = 3000;

export function createHealthChecker({ all }: Registry, clock: () => number = Date.now): HealthChecker {
  let last: { readonly at: number; readonly result: Promise<ReadonlyMap<string, Health>> } | undefined;
  return {
    look: () => {
      const now = clock();
      if (last === undefined || now - last.at > CACHE_TTL_MS) {
        const result = Promise.all(all.map(async (service) => [service.id, await send(service)] as const));
        last = { at: now, result: result.then((pairs) => new Map(pairs)) };
      }
      return last.result;
    },
  };
}

async function send(service: Service): Promise<Health> {
  const started = performance.now();
  const checkedAt = new Date().toISOString();
  const first = await callOnce(service);
  // A service that is being replaced refuses for a moment what its successor takes.
  const result = first.isUp ? first : await sleep(300).then(() => callOnce(service));
  return result.isUp
    ? { status: "up", ms: Math.round(performance.now() - started), checkedAt }
    : { status: "down", reason: result.reason, checkedAt };
}

async function callOnce({ direct, health, host }: Service): Promise<{ isUp: true } | { isUp: false; reason: string }> {
  try {
    const { statusCode, body } = await direct.dispatcher.request({
      origin: direct.origin,
      path: `${direct.prefix}${health}`,
      method: "GET",
      headers: { host, accept: "*/*" },
      signal: AbortSignal.timeout(TIMEOUT),
    });
    await body.dump();
    return statusCode < 500 ? { isUp: true } : { isUp: false, reason: `it answers ${statusCode}` };
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    return { isUp: false, reason: isLate ? `no answer within ${TIMEOUT / 1000} seconds` : "it cannot be reached" };
  }
}
