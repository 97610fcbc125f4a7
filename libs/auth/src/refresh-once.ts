import { hash } from "node:crypto";

/** Milliseconds in which requests with the old token may still arrive. */
const REMEMBER = 30_000;
const MOST_REMEMBERED = 10_000;

/**
 * Renews each login once. A page sends many requests with the same old token at once, and a refresh token may be good for one use
 * only: whoever brings the same token shortly after gets the answer of the first.
 */
export type RefreshOnce<T> = (refreshToken: string, refresh: () => Promise<T>) => Promise<T>;

export function createRefreshOnce<T>(clock: () => number = Date.now): RefreshOnce<T> {
  const recent = new Map<string, { readonly result: Promise<T>; readonly at: number }>();
  return (refreshToken, refresh) => {
    const key = hash("sha256", refreshToken);
    const now = clock();
    for (const [old, { at }] of recent) {
      if (at > now - REMEMBER && recent.size < MOST_REMEMBERED) {
        break;
      }
      recent.delete(old);
    }
    const known = recent.get(key);
    if (known !== undefined) {
      return known.result;
    }
    const result = refresh();
    recent.set(key, { result, at: now });
    // A failure to ask is no answer: the next request asks again.
    result.catch(() => recent.delete(key));
    return result;
  };
}
