import { hash } from "node:crypto";

import { decodeJwt } from "jose";

/** Milliseconds in which requests with the old token may still arrive. */
const REMEMBER = 30_000;
const MAX_REMEMBERED = 10_000;

/**
 * Renews each login once. A page sends many requests with the same old token at once, and a refresh token may be good for one use
 * only: whoever brings the same token shortly after gets the answer of the first.
 */
export type RefreshOnce<T> = (refreshToken: string, refresh: () => Promise<T>) => Promise<T>;

/** What of the answer of a refresh counts here. */
interface Refreshed {
  readonly accessToken: string;
}

export function createRefreshOnce<T extends Refreshed | undefined>(clock: () => number = Date.now): RefreshOnce<T> {
  const recent = new Map<string, { readonly result: Promise<T>; until: number }>();
  return (refreshToken, refresh) => {
    const key = hash("sha256", refreshToken);
    const now = clock();
    for (const [old, { until }] of recent) {
      if (until > now && recent.size < MAX_REMEMBERED) {
        break;
      }
      recent.delete(old);
    }
    const known = recent.get(key);
    if (known !== undefined && known.until > now) {
      return known.result;
    }
    const entry = { result: refresh(), until: now + REMEMBER };
    // At the end again: they go in the order in which they came.
    recent.delete(key);
    recent.set(key, entry);
    entry.result.then(
      (refreshed) => {
        // An access token that has ended lets nobody in.
        entry.until = Math.min(entry.until, endOf(refreshed));
      },
      // A failure to ask is no answer: the next request asks again.
      () => recent.delete(key),
    );
    return entry.result;
  };
}

/** When an access token ends, in milliseconds of the clock; never where only the identity service knows. */
function endOf(refreshed: Refreshed | undefined): number {
  try {
    return refreshed === undefined ? Infinity : (decodeJwt(refreshed.accessToken).exp ?? Infinity) * 1000;
  } catch {
    // Not a JWT.
    return Infinity;
  }
}
