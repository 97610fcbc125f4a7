import { removeJournal } from "@swath/cwl";
import { openListener } from "@swath/postgres";
import type { Logger } from "@swath/service";
import type { Kysely } from "kysely";
import { type ChildProcess, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";

import { JOB_CHANNEL, claimJob, noteDeath, releaseLeases } from "../store/jobs.ts";
import type { Tables } from "../store/tables.ts";
import { createExecutors } from "./executors.ts";
import { jobFolder } from "./run-job.ts";
import type { AdesSettings } from "./storage.ts";

export interface Dispatcher {
  readonly stop: () => Promise<void>;
}

interface DispatcherOptions {
  readonly db: Kysely<Tables>;
  readonly settings: AdesSettings;
  readonly logger: Logger;
  /** Environment that runners inherit. */
  readonly env: NodeJS.ProcessEnv;
}

/** A new job is told at once; this is for leases that run out, of which nobody tells. */
const LOOK_AGAIN = 5000;
/** Milliseconds that a runner may take to stop its tools. */
const PATIENCE = 5000;
const RUNNER = join(import.meta.dirname, "../runner/main.ts");

/** Starts a runner for every job whose turn it is, and ends those of dismissed jobs. Takes over what a former service left. */
export async function startDispatcher({ db, settings, logger, env }: DispatcherOptions): Promise<Dispatcher> {
  const runners = new Map<string, ChildProcess>();
  let stopped = false;
  let pumping = false;
  let again = false;

  const start = (id: string) => {
    const child = spawn(process.execPath, [RUNNER, id], { env, stdio: ["ignore", "inherit", "inherit"] });
    runners.set(id, child);
    child.once("exit", (code, signal) => {
      runners.delete(id);
      void ended(id, code, signal);
    });
  };
  const ended = async (id: string, code: number | null, signal: NodeJS.Signals | null) => {
    try {
      if (code !== 0 && !stopped) {
        await noteDeath(
          db,
          id,
          `The job's runner ended again and again (${signal ?? code ?? "?"}); see the service's log.`,
        );
      }
      const job = await db.selectFrom("job").select("status").where("id", "=", id).executeTakeFirst();
      if (job === undefined || job.status === "dismissed") {
        await removeFolder(id);
      }
    } catch (error) {
      logger.warn({ job: id, err: error }, "cannot note the end of a runner");
    }
    await pump();
  };
  const removeFolder = async (id: string) => {
    const folder = jobFolder(settings, id);
    // Ends what the job left running; without a journal nothing was.
    await removeJournal(join(folder, "journal"), createExecutors(settings, id)).catch((error: unknown) =>
      logger.info({ job: id, err: error }, "nothing to clean up"),
    );
    await rm(folder, { recursive: true, force: true });
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
        while (!stopped && runners.size < settings.PARALLEL_JOBS) {
          const id = await claimJob(db);
          if (id === undefined || runners.has(id)) {
            break;
          }
          start(id);
        }
      } while (again);
    } catch (error) {
      logger.warn({ err: error }, "cannot look for jobs; trying again");
    } finally {
      pumping = false;
    }
  };
  const onMessage = async (id: string) => {
    const child = runners.get(id);
    if (child !== undefined) {
      const job = await db.selectFrom("job").select("status").where("id", "=", id).executeTakeFirst();
      if (job === undefined || job.status === "dismissed") {
        endChild(child);
      }
    }
    await pump();
  };

  await releaseLeases(db);
  const listener = await openListener({
    url: settings.DATABASE_URL,
    channel: JOB_CHANNEL,
    onMessage: (id) =>
      void onMessage(id).catch((error: unknown) => logger.warn({ err: error }, "cannot look at a job")),
    onConnect: () => void pump(),
    onError: (error) => logger.warn({ err: error }, "lost the connection that jobs are told on"),
  });
  const timer = setInterval(() => void pump(), LOOK_AGAIN);
  return {
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await listener.close();
      await Promise.all(
        [...runners.values()].map((child) => {
          const gone = new Promise((resolve) => child.once("exit", resolve));
          endChild(child);
          return gone;
        }),
      );
    },
  };
}

function endChild(child: ChildProcess): void {
  child.kill("SIGTERM");
  setTimeout(() => child.kill("SIGKILL"), PATIENCE).unref();
}
