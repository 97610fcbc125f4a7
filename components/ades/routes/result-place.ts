import type { UserStorage } from "../execution/storage.ts";
import { parseS3Url } from "../staging/in/s3-source.ts";
import type { JobResult } from "../store/tables.ts";
import type { Place } from "./result-files.ts";

/** Where the results of a user's job lie; `undefined` for a job that stored nothing. */
export type FindPlace = (user: string, result: JobResult | null) => Promise<Place | undefined>;

export function createFindPlace(storageOf: (user: string) => Promise<UserStorage>): FindPlace {
  return async (user, result) => {
    if (result?.catalogUri === undefined) {
      return undefined;
    }
    const { bucket, key } = parseS3Url(result.catalogUri);
    return { storage: await storageOf(user), bucket, prefix: key.slice(0, key.lastIndexOf("/") + 1) };
  };
}
