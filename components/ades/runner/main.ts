// Carries jobs out, one at a time, as the service that started it says: a process of its own, so that a tool's appetite, a
// fault or a kill ends this job's attempt and nothing else. It ends when it is asked to, when the service is gone, and when its job
// is somebody else's by now; what its job has done so far stays in the job's journal.
import { openDatabase } from "@swath/postgres";
import { createLogger, loadSettings } from "@swath/service";

import { settings as definitions } from "../config.ts";
import { findToolIsolation } from "../execution/isolation.ts";
import { runJob } from "../execution/run-job.ts";
import { type HeldJob, isHeld } from "../store/queue.ts";
import type { Tables } from "../store/tables.ts";
import { Interruption } from "./interruption.ts";
import type { FromRunner, ToRunner } from "./messages.ts";
import { type StageClock, createStageClock } from "./stage-clock.ts";

/** Bytes of memory after which a fresh process is better. */
const WORN = 400 * 2 ** 20;
/** Milliseconds for the tools of a job to end when the service is gone. */
const TIMEOUT = 3000;
const INTERRUPTED = 75;
/** Former jobs whose files are still there, at most: a disk that is slow holds up jobs rather than being filled by them. */
const MAX_REMOVALS = 4;
/** Milliseconds between signs of life. */
const ALIVE_MS = 2000;
/** Milliseconds between looks whether the job is still this attempt's. */
const CHECK_MS = 3000;

// oxlint-disable-next-line node/no-process-env -- a program of its own; the one place where it reads its environment
const env = process.env;
const logger = createLogger("ades-runner", env["LOG_LEVEL"] ?? "info");
const settings = loadSettings(definitions, env);
// Looked for while nobody waits.
findToolIsolation(settings);
const { db, close } = await openDatabase<Tables>({
  url: settings.DATABASE_URL,
  schema: "ades",
  connections: 2,
  onError: (error) => logger.warn({ err: error }, "a database connection broke"),
});
const stop = new AbortController();
let working: Promise<void> | undefined;
/** Removes what former jobs have left, while the next one is at work. */
let removing: Promise<void> = Promise.resolve();
let removals = 0;
let clock: StageClock | undefined;

process.on("message", (message) => {
  const order = message as ToRunner;
  if (order.type === "stop") {
    void end(order.resumes ? new Interruption("the service ends") : new Error("the job was stopped"));
    return;
  }
  working = execute(order);
});
process.once("disconnect", () => void end(new Interruption("the service has ended")));
process.once("SIGTERM", () => void end(new Interruption("the runner was stopped")));
// A terminal's signals are for the service to act on.
process.on("SIGINT", () => {});
tell({ type: "ready" });
setInterval(() => tell({ type: "alive", at: clock?.read() }), ALIVE_MS).unref();

async function execute({ job, limits }: Extract<ToRunner, { type: "run" }>): Promise<void> {
  clock = createStageClock();
  const checking = setInterval(() => void checkHeld(job), CHECK_MS).unref();
  try {
    const removeFiles = await runJob(job, { db, settings, logger, limits, clock, signal: stop.signal });
    removals += 1;
    removing = removing
      .then(removeFiles)
      .catch((error: unknown) => logger.warn({ job: job.id, err: error }, "cannot remove the files of a job"))
      .finally(() => (removals -= 1));
    if (removals > MAX_REMOVALS) {
      await removing;
    }
  } catch (error) {
    if (!stop.signal.aborted) {
      logger.error({ job: job.id, err: error }, "cannot carry a job out");
      process.exit(INTERRUPTED);
    }
    return;
  } finally {
    clearInterval(checking);
    clock = undefined;
  }
  working = undefined;
  tell({ type: "ended", job: job.id, isWorn: process.memoryUsage.rss() > WORN });
}

/** Another instance has the job, where this one was not heard of for too long: then this attempt ends, wherever its service is. */
async function checkHeld(job: HeldJob): Promise<void> {
  // While the database is away nobody else can take the job either.
  const isOurs = await isHeld(db, job).catch(() => true);
  if (!isOurs && clock !== undefined && clock.read().stage !== "ending") {
    logger.warn({ job: job.id }, "the job is not this runner's any more");
    await end(new Interruption("the job was taken by another instance, or dismissed"));
  }
}

async function end(why: Error): Promise<void> {
  setTimeout(() => process.exit(INTERRUPTED), TIMEOUT).unref();
  stop.abort(why);
  await working;
  await removing;
  await close();
  process.exit(0);
}

function tell(message: FromRunner): void {
  // A service that is gone is told by the end of the connection.
  process.send?.(message, undefined, undefined, () => {});
}
