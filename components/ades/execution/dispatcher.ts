import { removeJournal } from "@swath/cwl";
import { type Logger, isAway } from "@swath/service";
import type { Kysely } from "kysely";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import type { JobLimits } from "../runner/messages.ts";
import {
  type ClaimedJob,
  LEASE_SECONDS,
  type Room,
  claimJob,
  findNextJob,
  findUnfinished,
  noteDeath,
  refuseTooLarge,
  releaseLeases,
  renewLeases,
  setJobAside,
} from "../store/queue.ts";
import type { Tables } from "../store/tables.ts";
import { readCapacity } from "./capacity.ts";
import { createExecutors } from "./executors.ts";
import type { JobChange, JobChanges } from "./job-changes.ts";
import { type RunnerEnd, openRunnerPool } from "./runner-pool.ts";
import { type AdesSettings, jobFolder } from "./storage.ts";

export interface Dispatcher {
  readonly stop: () => Promise<void>;
}

interface DispatcherOptions {
  readonly db: Kysely<Tables>;
  readonly settings: AdesSettings;
  readonly logger: Logger;
  readonly changes: JobChanges;
  /** Environment that runners inherit. */
  readonly env: NodeJS.ProcessEnv;
}

/** A new job is told at once; this is for leases that run out, of which nobody tells. */
const LOOK_AGAIN = 5000;

interface AtWork {
  readonly job: ClaimedJob;
  readonly limits: JobLimits;
}

/**
 * Gives every job to a runner when its turn has come and there is room for it, keeps the jobs at work, and ends those that are
 * dismissed. Takes over what a former service left.
 */
export async function startDispatcher({ db, settings, logger, changes, env }: DispatcherOptions): Promise<Dispatcher> {
  const capacity = readCapacity(settings);
  const atWork = new Map<string, AtWork>();
  /** Jobs that could not be taken. */
  const unreadable = new Set<string>();
  let stopped = false;
  let pumping = false;
  let again = false;

  const warn =
    (text: string, more: object = {}) =>
    (error: unknown) =>
      logger.warn({ ...more, err: error }, text);
  const pool = openRunnerPool({
    env,
    onEnd: (job, how) => void ended(job, how).catch(warn("cannot note the end of a runner", { job: job.id })),
  });
  const ended = async (job: ClaimedJob, how: RunnerEnd) => {
    atWork.delete(job.id);
    if (stopped) {
      return;
    }
    if (how.kind === "died") {
      logger.warn({ job: job.id, how: how.of }, "a runner ended in the middle of a job");
      await noteDeath(db, job, `The process that carried the job out ended again and again (${how.of}).`);
    }
    if (how.kind !== "done") {
      await removeUnwanted(job.id);
    }
    await pump();
  };
  /** Removes what a job that is no longer wanted has left, and ends what it left running. */
  const removeUnwanted = async (id: string) => {
    if (!(await findUnfinished(db, [id])).has(id)) {
      await removeFolder(id);
    }
  };
  const removeFolder = async (id: string) => {
    const folder = jobFolder(settings, id);
    // Ends what the job left running; without a journal nothing was.
    await removeJournal(join(folder, "journal"), createExecutors(settings, id)).catch((error: unknown) =>
      logger.info({ job: id, err: error }, "nothing to clean up"),
    );
    await rm(folder, { recursive: true, force: true });
  };
  const findRoom = (): Room => {
    const used = [...atWork.values()];
    return {
      cores: capacity.total.cores - used.reduce((sum, { job }) => sum + job.need_cores, 0),
      ramMiB: capacity.total.ramMiB - used.reduce((sum, { limits }) => sum + limits.ramMiB, 0),
    };
  };
  const start = (job: ClaimedJob, room: Room) => {
    const { ofOneJob } = capacity;
    // What all its tools would use together, as far as there is room; never less than its largest tool needs.
    const wished = Math.min(job.wish_ram_mib ?? ofOneJob.ramMiB, ofOneJob.ramMiB, room.ramMiB);
    const limits = {
      cores: ofOneJob.cores,
      ramMiB: Math.max(job.need_ram_mib, wished),
      toolRamMiB: ofOneJob.ramMiB,
    };
    atWork.set(job.id, { job, limits });
    pool.run(job, limits);
  };
  /** Takes the next job. One that cannot be taken is set aside, so that it holds up nobody. */
  const claim = async (room: Room): Promise<ClaimedJob | undefined> => {
    for (;;) {
      const passed = [...atWork.keys(), ...unreadable];
      try {
        return await claimJob(db, room, passed);
      } catch (error) {
        const id = isAway(error) || stopped ? undefined : await findNextJob(db, room, passed);
        if (id === undefined) {
          throw error;
        }
        await setAside(id, error);
      }
    }
  };
  const setAside = async (id: string, error: unknown) => {
    logger.error({ job: id, err: error }, "set a job aside that cannot be read");
    // Passed by from now on, also where not even its end can be written down.
    unreadable.add(id);
    await setJobAside(db, id, error instanceof Error ? error.message : String(error)).catch(
      warn("cannot note that a job was set aside", { job: id }),
    );
  };
  const pump = async () => {
    if (pumping) {
      again = true;
      return;
    }
    pumping = true;
    try {
      do {
        again = false;
        while (!stopped && atWork.size < capacity.parallelJobs) {
          const room = findRoom();
          const job = await claim(room);
          if (job === undefined || stopped) {
            break;
          }
          try {
            start(job, room);
          } catch (error) {
            atWork.delete(job.id);
            await setAside(job.id, error);
          }
        }
      } while (again);
    } catch (error) {
      logger.warn({ err: error }, "cannot look for jobs; trying again");
    } finally {
      pumping = false;
    }
  };
  const onChange = ({ id, status }: JobChange) => {
    if (status === "dismissed" && atWork.has(id)) {
      pool.stop(id);
    } else if (status === "accepted" || status === "running") {
      void pump();
    }
    // Others have ended, and when their runner is free it says so itself.
  };
  const keep = async () => {
    const held = [...atWork.values()].map(({ job: { id, attempts } }) => ({ id, attempts }));
    if (held.length > 0) {
      const ours = await renewLeases(db, held);
      for (const { id } of held) {
        // A job that ended meanwhile is nobody's any more, and its runner says so itself.
        if (!ours.has(id) && atWork.has(id)) {
          pool.stop(id);
        }
      }
    }
  };
  /** Folders of jobs that ended while no service was there. */
  const sweep = async () => {
    await rm(join(settings.DATA_DIR, "packages"), { recursive: true, force: true });
    const ids = (await readdir(join(settings.DATA_DIR, "jobs")).catch(() => [])).filter((name) => UUID.test(name));
    const unfinished = await findUnfinished(db, ids);
    for (const id of ids) {
      if (!unfinished.has(id)) {
        await removeFolder(id);
      }
    }
  };

  await releaseLeases(db);
  await refuseTooLarge(db, capacity.ofOneJob);
  await sweep();
  changes.follow((change) => void (change === undefined ? pump() : onChange(change)));
  void pump();
  const looking = setInterval(() => void pump(), LOOK_AGAIN);
  const keeping = setInterval(
    () => void keep().catch(warn("cannot keep jobs; trying again")),
    (LEASE_SECONDS * 1000) / 6,
  );
  return {
    stop: async () => {
      stopped = true;
      clearInterval(looking);
      clearInterval(keeping);
      await pool.close();
    },
  };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
