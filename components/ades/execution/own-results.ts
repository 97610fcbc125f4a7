import type { Kysely } from "kysely";

import { findJob } from "../store/jobs.ts";
import type { Tables } from "../store/tables.ts";
import { type AdesSettings, type UserStorage, findStorage } from "./storage.ts";

const RESULTS = "processing-results/";

/**
 * The storage of a user as `findStorage` gives it, for reading inputs and packages: in the bucket that all users' results go to,
 * only results of the user's own jobs can be read. Everything else there is for all, scenes that an operator put there say.
 */
export async function findReadableStorage(
  db: Kysely<Tables>,
  settings: AdesSettings,
  user: string,
): Promise<UserStorage> {
  const { target, access } = await findStorage(settings, user);
  if (settings.STAGEOUT_TARGET === "workspace") {
    return { target, access };
  }
  const owned = new Map<string, Promise<boolean>>();
  const owns = (job: string): Promise<boolean> => {
    const known = owned.get(job) ?? findJob(db, user, job).then((found) => found !== undefined);
    owned.set(job, known);
    // Asked again when the database was away.
    known.catch(() => owned.delete(job));
    return known;
  };
  const mayRead = async (key: string): Promise<boolean> =>
    !key.startsWith(RESULTS) || owns(key.slice(RESULTS.length).split("/", 1)[0] ?? "");
  return {
    target,
    access: access.map((each) => (each.buckets?.includes(settings.STAGEOUT_BUCKET) ? { ...each, mayRead } : each)),
  };
}
