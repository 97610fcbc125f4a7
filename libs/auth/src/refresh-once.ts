import { hash } from "node:crypto";

import { decodeJwt } from "jose";

/** Milliseconds in which requests with the old token may still arrive. */
const REMEMBER = 30_000;
const MOST_REMEMBERED = 10_000;

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
  const recent = new Map<string, { readonly result: Promise<T>; readonly at: number }>();
  return async (refreshToken, refresh) => {
    const key = hash("sha256", refreshToken);
    const remembered = recent.get(key);
    if (remembered !== undefined && remembered.at > clock() - REMEMBER) {
      const result = await remembered.result;
      if (!hasEnded(result, clock())) {
        return result;
      }
    }
    const now = clock();
    for (const [old, { at }] of recent) {
      if (at > now - REMEMBER && recent.size < MOST_REMEMBERED) {
        break;
      }
      recent.delete(old);
    }
    const known = recent.get(key);
    if (known !== undefined && known !== remembered) {
      // Somebody else who waited asked anew first.
      return known.result;
    }
    recent.delete(key);
    const result = refresh();
    recent.set(key, { result, at: now });
    // A failure to ask is no answer: the next request asks again.
    result.catch(() => recent.delete(key));
    return result;
  };
}

/** Whether an access token is one that lasted shorter than it is remembered, and ended: it lets nobody in. */
function hasEnded(refreshed: Refreshed | undefined, now: number): boolean {
  if (refreshed === undefined) {
    return false;
  }
  try {
    return (decodeJwt(refreshed.accessToken).exp ?? Infinity) * 1000 <= now;
  } catch {
    // Not a JWT: its end is known to the identity service alone.
    return false;
  }
}
