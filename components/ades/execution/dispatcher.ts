import { removeJournal } from "@swath/cwl";
import { type Logger, isAway } from "@swath/service";
import type { Kysely } from "kysely";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { removeFormerFolders } from "../packages/own-folder.ts";
import type { JobLimits } from "../runner/messages.ts";
import {
  type ClaimedJob,
  RENEW_MS,
  type Room,
  claimJob,
  findNextJob,
  findUnfinished,
  noteDeath,
  refuseTooLarge,
  renewLeases,
  setJobAside,
} from "../store/queue.ts";
import { createInstance, registerInstance, releaseInstances, renewInstance } from "../store/instances.ts";
import type { Tables } from "../store/tables.ts";
import { readCapacity } from "./capacity.ts";
import { createExecutors } from "./executors.ts";
import { removeStepFiles } from "./kubernetes/remove-step-files.ts";
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
const LOOK_AGAIN = 2000;

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
  const instance = createInstance();
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
    silentSeconds: settings.RUNNER_SILENCE_SECONDS,
    toolSeconds: settings.MAX_TOOL_SECONDS,
    onEnd: (job, how) => void ended(job, how).catch(warn("cannot note the end of a runner", { job: job.id })),
  });
  let others: Room = { cores: 0, ramMiB: 0 };
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
    await removeStepFiles(settings, id, logger);
    await rm(folder, { recursive: true, force: true });
  };
  const findRoom = (): Room => {
    const used = [...atWork.values()];
    return {
      cores: capacity.total.cores - others.cores - used.reduce((sum, { job }) => sum + job.need_cores, 0),
      ramMiB: capacity.total.ramMiB - others.ramMiB - used.reduce((sum, { limits }) => sum + limits.ramMiB, 0),
    };
  };
  const start = (job: ClaimedJob) => {
    const { ofOneJob } = capacity;
    const limits = {
      cores: ofOneJob.cores,
      // What all its tools would use together, as far as there was room; never less than its largest tool needs.
      ramMiB: job.granted_ram_mib ?? job.need_ram_mib,
      toolRamMiB: ofOneJob.ramMiB,
    };
    atWork.set(job.id, { job, limits });
    pool.run(job, limits);
  };
  /** Takes the next job. One that cannot be taken is set aside, so that it holds up nobody. */
  const claim = async (room: Room): Promise<ClaimedJob | undefined> => {
    for (;;) {
      const asked = {
        instance: instance.id,
        room,
        passed: [...atWork.keys(), ...unreadable],
        maxRamMiB: capacity.ofOneJob.ramMiB,
        maxOfUser: settings.USER_RUNNING_JOBS,
      };
      try {
        return await claimJob(db, asked);
      } catch (error) {
        const id = isAway(error) || stopped ? undefined : await findNextJob(db, asked);
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
            start(job);
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
  let keeping: Promise<void> | undefined;
  const keepOnce = () => {
    keeping ??= keep()
      .catch(warn("cannot keep jobs; trying again"))
      .finally(() => (keeping = undefined));
  };
  const keep = async () => {
    others = await renewInstance(db, instance);
    const held = [...atWork.values()].map(({ job: { id, attempts } }) => ({ id, attempts, ...pool.heard(id) }));
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
    await removeFormerFolders(settings.DATA_DIR);
    const ids = (await readdir(join(settings.DATA_DIR, "jobs")).catch(() => [])).filter((name) => UUID.test(name));
    const unfinished = await findUnfinished(db, ids);
    for (const id of ids) {
      if (!unfinished.has(id)) {
        await removeFolder(id);
      }
    }
  };

  await registerInstance(db, instance, capacity.ofOneJob);
  await refuseTooLarge(db, capacity.ofOneJob);
  await sweep();
  changes.follow((change) => void (change === undefined ? pump() : onChange(change)));
  void pump();
  const looking = setInterval(() => void pump(), LOOK_AGAIN);
  const renewing = setInterval(keepOnce, RENEW_MS);
  return {
    stop: async () => {
      stopped = true;
      clearInterval(looking);
      clearInterval(renewing);
      await pool.close();
      // Others go on with its jobs at once.
      await releaseInstances(db, [instance.id]).catch(warn("cannot let go of jobs"));
    },
  };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
