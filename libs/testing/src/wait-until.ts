import { setTimeout as sleep } from "node:timers/promises";

/**
 * Asks again and again until the answer is neither undefined nor false; fails with `what` after `seconds`. It is no test of
 * speed: a machine that is slow or has much to do must not fail.
 */
export async function waitUntil<T>(
  what: string,
  send: () => T | Promise<T>,
  seconds = 120,
): Promise<Exclude<T, undefined | false>> {
  const deadline = Date.now() + seconds * 1000;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const response = await send();
      if (response !== undefined && response !== false) {
        return response as Exclude<T, undefined | false>;
      }
    } catch (error) {
      last = error;
    }
    await sleep(50);
  }
  throw new Error(`waited ${seconds} s in vain: ${what}`, { cause: last });
}
