import type { Logger } from "@swath/service";
import type { Queryable } from "@swath/work";
import type { Kysely } from "kysely";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { removeFolder } from "../execution/remove-folder.ts";
import type { AdesSettings } from "../execution/storage.ts";
import { deregisterResults } from "../deliveries/register-results.ts";
import {
  endRemoval,
  findFresh,
  forgetJobs,
  forgetVersions,
  recordRemovalFailure,
  removalQueue,
} from "../store/retention.ts";
import type { Tables } from "../store/tables.ts";
import { removeResults } from "./remove-results.ts";

interface SweepOptions {
  readonly db: Kysely<Tables>;
  readonly pool: Queryable;
  readonly settings: AdesSettings;
  readonly logger: Logger;
}

/** Milliseconds between sweeps. */
const PERIOD = 10 * 60_000;
/** Milliseconds after which a folder that nobody needs is no attempt that is just beginning. */
const OLD = 60 * 60_000;
const JOB_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a sweep took away. */
export interface Swept {
  readonly jobs: number;
  readonly results: number;
  readonly folders: number;
}

/**
 * Forgets what is older than it is kept, removes the results that go with it, and reclaims folders of jobs that were left behind
 * by a crash. What has to be removed is noted with what forgets it, so that a sweep that is cut off is finished by the next.
 */
export async function sweep({ db, pool, settings, logger }: SweepOptions): Promise<Swept> {
  const { JOB_RETENTION_DAYS: days, RESULT_RETENTION: results } = settings;
  const jobs = days > 0 ? await forgetJobs(db, days, results === "with-job") : 0;
  await forgetVersions(db);
  const swept = {
    jobs,
    results: await removeForgotten({ db, pool, settings, logger }),
    folders:
      (await removeFolders(db, join(settings.DATA_DIR, "jobs"))) +
      (await removeOld(join(settings.DATA_DIR, "packages"))),
  };
  if (swept.jobs + swept.results + swept.folders > 0) {
    logger.info(swept, "swept");
  }
  return swept;
}

/** Sweeps now and every ten minutes. */
export function startSweeps(options: SweepOptions): { readonly stop: () => Promise<void> } {
  let last: Promise<unknown> = Promise.resolve();
  const run = () => {
    last = sweep(options).catch((error: unknown) =>
      options.logger.warn({ err: error }, "a sweep failed; trying again"),
    );
  };
  run();
  const timer = setInterval(run, PERIOD);
  return {
    stop: async () => {
      clearInterval(timer);
      await last;
    },
  };
}

async function removeForgotten({ db, pool, settings, logger }: SweepOptions): Promise<number> {
  let removed = 0;
  const take = () => removalQueue.claim(pool, 1);
  for (let [next] = await take(); next !== undefined; [next] = await take()) {
    const { job, owner, catalog_uri: catalogUri } = next.row;
    try {
      await removeResults(settings, { owner, job, catalogUri });
      await deregisterResults(settings, owner, catalogUri);
    } catch (error) {
      logger.warn({ err: error, job }, "results cannot be removed now; trying again in an hour");
      await recordRemovalFailure(db, job, error instanceof Error ? error.message : String(error));
      continue;
    }
    await endRemoval(db, job);
    removed += 1;
  }
  return removed;
}

/** Folders of jobs that are unknown or ended a while ago: their runner or service died before it could. */
async function removeFolders(db: Kysely<Tables>, folder: string): Promise<number> {
  const names = (await listOld(folder)).filter((name) => JOB_ID.test(name));
  const fresh = await findFresh(db, names);
  const stale = names.filter((name) => !fresh.has(name));
  await Promise.all(stale.map((name) => removeFolder(join(folder, name))));
  return stale.length;
}

async function removeOld(folder: string): Promise<number> {
  const names = await listOld(folder);
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  return names.length;
}

/** Names in a folder that nothing was put into for an hour; none where there is no such folder. */
async function listOld(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const times = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)));
  const before = Date.now() - OLD;
  return names.filter((_, index) => (times[index]?.mtimeMs ?? Number.POSITIVE_INFINITY) < before);
}
