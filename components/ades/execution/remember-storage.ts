import { type AdesSettings, type UserStorage, findStorage } from "./storage.ts";

/** Milliseconds for which the storage of a user is remembered: a map asks for many parts of one file. */
const KEPT_MS = 30_000;

/** As `findStorage`, for requests: what was found is remembered for a while, what failed is asked again. */
export function rememberStorage(settings: AdesSettings): (user: string) => Promise<UserStorage> {
  const known = new Map<string, { readonly until: number; readonly storage: Promise<UserStorage> }>();
  return (user) => {
    const now = Date.now();
    for (const [name, { until }] of known) {
      if (until < now) {
        known.delete(name);
      }
    }
    const entry = known.get(user) ?? { until: now + KEPT_MS, storage: findStorage(settings, user) };
    known.set(user, entry);
    entry.storage.catch(() => known.delete(user));
    return entry.storage;
  };
}
