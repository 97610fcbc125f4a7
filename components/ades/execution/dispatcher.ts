import { removeJournal } from "@swath/cwl";
import { type Logger, isUnavailable } from "@swath/service";
import type { Kysely } from "kysely";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { removeFormerFolders } from "../packages/own-folder.ts";
import type { JobLimits } from "../runner/messages.ts";
import {
  type ClaimedJob,
  RENEW_MS,
  type FreeCapacity,
  claimJob,
  findNextJob,
  findUnfinished,
  recordRunnerCrash,
  refuseTooLarge,
  renewLeases,
  setJobAside,
} from "../store/queue.ts";
import { createInstance, registerInstance, releaseInstances, renewInstance } from "../store/instances.ts";
import { isOpen } from "../store/job-states.ts";
import type { Tables } from "../store/tables.ts";
import { readCapacity } from "./capacity.ts";
import { createExecutors } from "./executors.ts";
import { removeStepFiles } from "./kubernetes/remove-step-files.ts";
import type { JobChange, JobChanges } from "./job-changes.ts";
import { removeFolder } from "./remove-folder.ts";
import { type RunnerExit, openRunnerPool } from "./runner-pool.ts";
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
const POLL_INTERVAL_MS = 2000;

interface RunningJob {
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
  const running = new Map<string, RunningJob>();
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
  let others: FreeCapacity = { cores: 0, ramMiB: 0 };
  const ended = async (job: ClaimedJob, how: RunnerExit) => {
    running.delete(job.id);
    if (stopped) {
      return;
    }
    if (how.kind === "died") {
      logger.warn({ job: job.id, how: how.of }, "runner exited unexpectedly during a job");
      await recordRunnerCrash(db, job, `The runner crashed repeatedly (${how.of}).`);
    }
    if (how.kind !== "done") {
      await removeUnwanted(job.id);
    }
    await pump();
  };
  /** Removes what a job that is no longer wanted has left, and ends what it left running. */
  const removeUnwanted = async (id: string) => {
    if (!(await findUnfinished(db, [id])).has(id)) {
      await removeFilesOf(id);
    }
  };
  const removeFilesOf = async (id: string) => {
    const folder = jobFolder(settings, id);
    // Ends what the job left running; without a journal nothing was.
    await removeJournal(join(folder, "journal"), createExecutors(settings, id)).catch((error: unknown) =>
      logger.info({ job: id, err: error }, "nothing to clean up"),
    );
    await removeStepFiles(settings, id, logger);
    await removeFolder(folder);
  };
  const findFreeCapacity = (): FreeCapacity => {
    const used = [...running.values()];
    return {
      cores: capacity.total.cores - others.cores - used.reduce((sum, { job }) => sum + job.need_cores, 0),
      ramMiB: capacity.total.ramMiB - others.ramMiB - used.reduce((sum, { limits }) => sum + limits.ramMiB, 0),
    };
  };
  const start = (job: ClaimedJob) => {
    const { perJob } = capacity;
    const limits = {
      cores: perJob.cores,
      // What all its tools would use together, as far as there was room; never less than its largest tool needs.
      ramMiB: job.granted_ram_mib ?? job.need_ram_mib,
      toolRamMiB: perJob.ramMiB,
    };
    running.set(job.id, { job, limits });
    pool.run(job, limits);
  };
  /** Takes the next job. One that cannot be taken is set aside, so that it holds up nobody. */
  const claim = async (freeCapacity: FreeCapacity): Promise<ClaimedJob | undefined> => {
    for (;;) {
      const requested = {
        instance: instance.id,
        freeCapacity,
        passed: [...running.keys(), ...unreadable],
        maxRamMiB: capacity.perJob.ramMiB,
        maxOfUser: settings.USER_RUNNING_JOBS,
      };
      try {
        return await claimJob(db, requested);
      } catch (error) {
        const id = isUnavailable(error) || stopped ? undefined : await findNextJob(db, requested);
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
        while (!stopped && running.size < capacity.parallelJobs) {
          const freeCapacity = findFreeCapacity();
          const job = await claim(freeCapacity);
          if (job === undefined || stopped) {
            break;
          }
          try {
            start(job);
          } catch (error) {
            running.delete(job.id);
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
    if (status === "dismissed" && running.has(id)) {
      pool.stop(id);
    } else if (isOpen(status)) {
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
    const held = [...running.values()].map(({ job: { id, attempts, holder } }) => ({
      id,
      attempts,
      holder,
      ...pool.heard(id),
    }));
    if (held.length > 0) {
      const ours = await renewLeases(db, held);
      for (const { id } of held) {
        // A job that ended meanwhile is nobody's any more, and its runner says so itself.
        if (!ours.has(id) && running.has(id)) {
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
        await removeFilesOf(id);
      }
    }
  };

  await registerInstance(db, instance, capacity.perJob);
  await refuseTooLarge(db, capacity.perJob);
  await sweep();
  changes.follow((change) => void (change === undefined ? pump() : onChange(change)));
  void pump();
  const looking = setInterval(() => void pump(), POLL_INTERVAL_MS);
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
