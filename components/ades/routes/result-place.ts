import { type AdesSettings, type UserStorage, findStorage } from "../execution/storage.ts";
import { parseS3Url } from "../staging/in/s3-source.ts";
import type { JobResult } from "../store/tables.ts";
import type { Place } from "./result-files.ts";

/** Milliseconds for which the place of a user's results is remembered: a map asks for many parts of one file. */
const KEPT_MS = 30_000;

/** Where the results of a user's job lie; `undefined` for a job that stored nothing. */
export type FindPlace = (user: string, result: JobResult | null) => Promise<Place | undefined>;

export function createFindPlace(settings: AdesSettings): FindPlace {
  const storageOf = rememberStorage(settings);
  return async (user, result) => {
    if (result?.catalogUri === undefined) {
      return undefined;
    }
    const { bucket, key } = parseS3Url(result.catalogUri);
    return { storage: await storageOf(user), bucket, prefix: key.slice(0, key.lastIndexOf("/") + 1) };
  };
}

function rememberStorage(settings: AdesSettings): (user: string) => Promise<UserStorage> {
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
