import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds that a request waits for another service's word before it goes on without; a job waits longer. */
const MOMENTS = 3000;

/** What the work gives, or `undefined` when that takes longer than a request waits. */
export async function withinMoments<T>(work: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, sleep(MOMENTS, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
