import type { Kysely } from "kysely";

import { findJob } from "../store/jobs.ts";
import { folderOf } from "../results/followable.ts";
import type { JobResult, Tables } from "../store/tables.ts";
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

/**
 * Where a file of the user's own results is stored, when an input names it by the address that this service gave it: a job has no
 * token to fetch it there. Every other address is as it was.
 */
export async function toStoredAddress(
  db: Kysely<Tables>,
  { PUBLIC_URL }: Pick<AdesSettings, "PUBLIC_URL">,
  user: string,
  href: string,
): Promise<string> {
  const space = `${new URL(PUBLIC_URL).origin}/${encodeURIComponent(user)}/`;
  const [, id, path] =
    (href.startsWith(space) && /^(?:ogc-api|wps3)\/jobs\/([^/?#]+)\/files\/([^?#]+)$/.exec(href.slice(space.length))) ||
    [];
  if (id === undefined || path === undefined) {
    return href;
  }
  const job = await findJob(db, user, id);
  const folder = folderOf((job?.result ?? { outputs: {} }) as unknown as JobResult);
  return folder === undefined ? href : `${folder}${path.split("/").map(decodeURIComponent).join("/")}`;
}
