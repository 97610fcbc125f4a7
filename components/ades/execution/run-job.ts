import { type RunEvent, type Value, type ValueObject, CwlError, removeJournal, runProcess, toJson } from "@swath/cwl";
import type { Logger } from "@swath/service";
import type { Kysely } from "kysely";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { loadPackage } from "../packages/load-package.ts";
import { stageIn } from "../staging/stage-in.ts";
import { stageOut } from "../staging/stage-out.ts";
import type { StagedInput, StagedOutput } from "../staging/types.ts";
import { addLog, setStep } from "../store/job-records.ts";
import { type Job, finishJob, setProgress } from "../store/jobs.ts";
import { findVersion } from "../store/processes.ts";
import type { JobRequest, JobResult, Tables } from "../store/tables.ts";
import { createExecutors } from "./executors.ts";
import { placeStaged, readInputs } from "./read-inputs.ts";
import { type AdesSettings, allowedPrivate, findStorage } from "./storage.ts";

interface RunOptions {
  readonly db: Kysely<Tables>;
  readonly settings: AdesSettings;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Share of the progress bar that fetching inputs, running and storing results have. */
const STAGED_IN = 10;
const RUN = 80;

/** Where tools are found that run without a container: those of the example packages, then the system's. */
const TOOLS = `${join(import.meta.dirname, "../../../examples/bin")}:/usr/local/bin:/usr/bin:/bin`;

export const jobFolder = ({ DATA_DIR }: AdesSettings, id: string): string => join(DATA_DIR, "jobs", id);

/**
 * Carries a job out from wherever an earlier attempt left it: inputs that are here are not fetched again, steps that finished
 * are not run again, results that are stored are not sent again. The end is noted in one statement, results with it.
 */
export async function runJob(job: Job, options: RunOptions): Promise<void> {
  const { db, settings, signal } = options;
  const folder = jobFolder(settings, job.id);
  try {
    const result = await carryOut(job, folder, options);
    await finishJob(db, job.id, { status: "successful", message: "The job is done.", result });
  } catch (error) {
    if (signal.aborted) {
      throw error;
    }
    options.logger.warn({ job: job.id, err: error }, "a job failed");
    await finishJob(db, job.id, { status: "failed", message: explain(error) });
  }
  await removeJournal(join(folder, "journal"), createExecutors(settings, job.id)).catch(() => {});
  await rm(folder, { recursive: true, force: true });
}

async function carryOut(job: Job, folder: string, options: RunOptions): Promise<JobResult> {
  const { db, settings, signal } = options;
  const process = await findVersion(db, job.owner, job.process_id, job.process_version);
  if (process === undefined) {
    throw new Error(`process ${job.process_id} is gone`);
  }
  const document = await loadPackage(process.package, process.entry ?? process.id);
  const { inputs } = job.request as unknown as JobRequest;
  const { values, sources } = readInputs(document, inputs);
  await mkdir(join(folder, "in"), { recursive: true });

  // Known before any work is done, so that a job whose results have nowhere to go fails at once.
  const needsStorage = process.description as unknown as { outputs: Record<string, { schema: { format?: string } }> };
  const storesResults = JSON.stringify(needsStorage.outputs).includes('"format":"uri"');
  const storage =
    storesResults || sources.some(({ href }) => href.startsWith("s3:"))
      ? await findStorage(settings, job.owner)
      : undefined;

  const staged: StagedInput[] = [];
  for (const [index, source] of sources.entries()) {
    await setProgress(db, job.id, {
      progress: (STAGED_IN * index) / sources.length,
      message: `Fetching input ${index + 1} of ${sources.length}: ${source.href.slice(0, 200)}`,
    });
    staged.push(
      await stageIn({
        source,
        target: join(folder, "in", String(index)),
        access: { allowPrivate: allowedPrivate(settings), internal: [], s3: storage?.access ?? [] },
        signal,
      }),
    );
  }
  await setProgress(db, job.id, { progress: STAGED_IN, message: "Running." });
  const record = createRecorder(job.id, options);
  const outputs = await runProcess({
    document,
    inputs: placeStaged(values, staged) as Record<string, unknown>,
    executors: createExecutors(settings, job.id),
    hostFallback: true,
    journal: join(folder, "journal"),
    outDir: join(folder, "out"),
    inputRoots: [join(folder, "in")],
    limits: { cores: settings.MAX_CORES, ramMiB: settings.MAX_RAM_MIB },
    path: settings.TOOL_PATH ?? TOOLS,
    signal,
    onEvent: record.onEvent,
  });
  await record.settled();
  if (!storesResults || storage === undefined) {
    return { outputs: toPlain(outputs) };
  }
  await setProgress(db, job.id, { progress: STAGED_IN + RUN, message: "Storing results." });
  const stored = await stageOut({
    directory: findCatalogue(outputs) ?? join(folder, "out"),
    target: storage.target,
    prefix: `processing-results/${job.id}`,
    jobId: job.id,
    title: process.id,
    signal,
  });
  return { outputs: toStored(outputs, stored), catalogUri: stored.catalogUri, collection: stored.collection };
}

/** The one directory that a package puts its STAC catalogue in; with several the whole output folder is stored. */
function findCatalogue(outputs: ValueObject): string | undefined {
  const directories = Object.values(outputs)
    .flat()
    .filter((value): value is Value & { location: string } => isObject(value) && value["class"] === "Directory");
  const [only] = directories;
  return directories.length === 1 && only !== undefined ? fileOf(only.location) : undefined;
}

const fileOf = (location: string): string => decodeURIComponent(new URL(location).pathname);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function toPlain(outputs: ValueObject): Record<string, unknown> {
  return JSON.parse(toJson(outputs as Value)) as Record<string, unknown>;
}

/** Outputs with the addresses of what was stored instead of local files. */
function toStored(outputs: ValueObject, { catalogUri, files }: StagedOutput): Record<string, unknown> {
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      return value.map(replace);
    }
    if (!isObject(value)) {
      return value;
    }
    if (value["class"] === "Directory") {
      return { href: catalogUri, type: "application/json" };
    }
    if (value["class"] === "File") {
      const name = `/${String(value["basename"])}`;
      const file = files.find(({ href }) => href.endsWith(name));
      return { href: file?.href ?? catalogUri, type: file?.mediaType ?? "application/octet-stream" };
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item)]));
  };
  return replace(toPlain(outputs)) as Record<string, unknown>;
}

/** Notes the engine's events in the order they come, without holding up the run. */
function createRecorder(job: string, { db, logger }: RunOptions) {
  let queue = Promise.resolve();
  const later = (work: () => Promise<void>) => {
    queue = queue.then(work).catch((error: unknown) => logger.warn({ job, err: error }, "cannot note what a job does"));
  };
  const onEvent = (event: RunEvent) => {
    switch (event.type) {
      case "step-started":
        later(() => setStep(db, job, event.step, { status: "running", command: event.command, image: event.image }));
        break;
      case "step-finished":
        later(() => setStep(db, job, event.step, { status: "successful", exitCode: event.exitCode }));
        break;
      case "step-failed":
        later(() =>
          setStep(db, job, event.step, { status: "failed", exitCode: event.exitCode, message: event.message }),
        );
        break;
      case "step-skipped":
        later(() => setStep(db, job, event.step, { status: "skipped" }));
        break;
      case "step-log":
        later(() => addLog(db, job, event.step, event.text));
        break;
      case "progress":
        later(() => setProgress(db, job, { progress: STAGED_IN + (RUN * event.percent) / 100 }));
        break;
      default:
        break;
    }
  };
  return { onEvent, settled: () => queue };
}

/** Why a job failed, for a scientist: the step, its exit code, the last lines of its log. */
export function explain(error: unknown): string {
  if (error instanceof CwlError) {
    const where = error.step === undefined || error.step === "" ? "" : `Step ${error.step}: `;
    const tail =
      error.logTail === undefined || error.logTail === ""
        ? ""
        : `\nLast lines of its log:\n${error.logTail.slice(-2000)}`;
    return `${where}${error.message}${tail}`;
  }
  return error instanceof Error ? error.message : String(error);
}
