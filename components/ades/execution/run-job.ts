import { CwlError, type Fetcher, type LoadedDocument, type ValueObject, removeJournal, runProcess } from "@swath/cwl";
import { type Logger, isUnavailable } from "@swath/service";
import type { Kysely } from "kysely";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { ECHO } from "../packages/echo.ts";
import { fetcherOf, readBundle } from "../packages/bundle.ts";
import { executeEcho, pauseOf } from "../packages/execute-echo.ts";
import { loadPackage } from "../packages/load-package.ts";
import { readFacts } from "../packages/package-facts.ts";
import type { JobLimits } from "../runner/messages.ts";
import type { StageClock } from "../runner/stage-clock.ts";
import { describePackage } from "../packages/describe.ts";
import { displayUrl } from "../staging/display-url.ts";
import type { Origin } from "../staging/types.ts";
import { stageOut } from "../staging/stage-out.ts";
import { finishJob } from "../store/job-records.ts";
import { type ClaimedJob, findUnfinished } from "../store/queue.ts";
import type { JobRequest, JobResult, Tables } from "../store/tables.ts";
import { createExecutors, openJobExecutors } from "./executors.ts";
import { removeStepFiles } from "./kubernetes/remove-step-files.ts";
import { classify, explain, withoutPlaces } from "./failure-message.ts";
import { toolPath } from "./tool-path.ts";
import { type JobRecorder, RUN, STAGED_IN, createJobRecorder } from "./job-recorder.ts";
import { declaresFiles, findOutputFolder, holdsFiles, toPlain, toStored } from "./outputs.ts";
import { findReadableStorage, toStoredAddress } from "./result-access.ts";
import { resolveStagedInputs, readInputs } from "./read-inputs.ts";
import { stageInputs } from "./stage-inputs.ts";
import { isStorageAway } from "./is-storage-away.ts";
import { removeFolder } from "./remove-folder.ts";
import { type AdesSettings, type UserStorage, findStorage, jobFolder } from "./storage.ts";
import { readNetworkRule } from "./tool-network/network-rule.ts";
import { measureFolder, watchDisk } from "./watch-disk.ts";
import { retryWhileUnavailable } from "./retry-while-unavailable.ts";

export interface RunOptions {
  readonly db: Kysely<Tables>;
  readonly settings: AdesSettings;
  readonly logger: Logger;
  readonly limits: JobLimits;
  readonly clock: StageClock;
  readonly signal: AbortSignal;
}

/** Milliseconds that results wait for the object storage or the workspaces to come back, rather than being computed again. */
const STORAGE_TIMEOUT = 10 * 60_000;
/** Milliseconds that a former runner of the job may take to end. */
const RUN_TIMEOUT = 10 * 60_000;

/**
 * Carries a job out from wherever an earlier attempt left it: inputs that are here are not fetched again, steps that finished
 * are not run again, results that are stored are not sent again. The end is noted in one statement, results with it. While the
 * database is away, the job waits for it.
 * @returns what removes all that the job has left here: nobody has to wait for it, and it is done again after a crash
 * @throws the reason of the signal; the job is then to be taken up again
 */
export async function runJob(job: ClaimedJob, options: RunOptions): Promise<() => Promise<void>> {
  const { db, settings, signal, logger } = options;
  const folder = jobFolder(settings, job.id);
  const recorder = createJobRecorder(job, folder, options);
  const traffic: Traffic = {};
  let isEndedHere = false;
  const end = async (ending: Parameters<typeof finishJob>[2], updates = recorder.drain()) => {
    const rest = await updates;
    isEndedHere = await persist(options, () => finishJob(db, job, ending, rest));
  };
  try {
    const result = await execute(job, { folder, recorder, traffic }, options);
    options.clock.enter("ending");
    await end({ status: "successful", message: "The job is done.", result, ...traffic });
  } catch (error) {
    signal.throwIfAborted();
    logger.warn({ job: job.id, err: error }, "a job failed");
    options.clock.enter("ending");
    const failure = {
      status: "failed",
      message: withoutPlaces(explain(error), folder),
      failure: classify(error),
      ...traffic,
    } as const;
    // What made the first try fail may be in the news themselves.
    await end(failure).catch(() => end(failure, Promise.resolve({ steps: [], log: [] })));
  }
  return async () => {
    // One that somebody else carries on with has its folder still.
    if (isEndedHere || !(await findUnfinished(db, [job.id])).has(job.id)) {
      await removeJobFiles(job, folder, options);
    }
  };
}

async function removeJobFiles(job: ClaimedJob, folder: string, { settings, logger }: RunOptions): Promise<void> {
  if (settings.EXECUTOR === "pods") {
    // Pods that an earlier attempt left, and that no step asked for again.
    await removeJournal(join(folder, "journal"), createExecutors(settings, job.id)).catch((error: unknown) =>
      logger.warn({ job: job.id, err: error }, "cannot remove what a job left"),
    );
  }
  await removeStepFiles(settings, job.id, logger);
  await removeFolder(folder);
}

interface Place {
  readonly folder: string;
  readonly recorder: JobRecorder;
  readonly traffic: Traffic;
}

/** Bytes of a job's inputs and results. */
interface Traffic {
  bytesIn?: number;
  bytesOut?: number;
}

async function execute(job: ClaimedJob, { folder, recorder, traffic }: Place, options: RunOptions): Promise<JobResult> {
  const { settings } = options;
  if (job.process_id === ECHO.id && job.process_version === 0) {
    const { inputs: provided } = job.request as unknown as JobRequest;
    options.clock.enter("running");
    await sleep(pauseOf(provided) * 1000, undefined, { signal: options.signal });
    return { outputs: await executeEcho(settings, provided) };
  }
  if (job.package === null) {
    throw new Error(`the process ${job.process_id} is gone`);
  }
  const document = await loadPackage(job.package, job.entry ?? job.process_id);
  const ontologies = fetcherOf(readBundle(job.package));
  const { inputs } = job.request as unknown as JobRequest;
  const { values, sources: requested } = readInputs(readFacts(document), inputs);
  const sources = await persist(options, () =>
    Promise.all(
      requested.map(async ({ href, ...source }) => ({
        ...source,
        href: await toStoredAddress(options.db, settings, job.owner, href),
      })),
    ),
  );

  // Known before any work is done, so that a job whose results have nowhere to go fails at once.
  const storage =
    declaresFiles(document) || sources.some(({ href }) => href.startsWith("s3:"))
      ? await waitForStorage(
          options,
          () => findReadableStorage(options.db, settings, job.owner),
          () => recorder.report({ message: "The object storage does not answer; the job goes on when it is back." }),
        )
      : undefined;
  options.clock.enter("fetching inputs");
  const staged = await stageInputs(sources, {
    folder: join(folder, "in"),
    recorder,
    storage,
    owner: job.owner,
    options,
  });
  traffic.bytesIn = await measureFolder(join(folder, "in"));
  options.clock.enter("running");
  recorder.report({ progress: STAGED_IN, message: "Running." });
  await mkdir(join(folder, "in"), { recursive: true });
  const outputs = await runTools(
    job,
    { document, ontologies, inputs: resolveStagedInputs(values, staged) as Record<string, unknown>, folder, recorder },
    options,
  );
  if (!holdsFiles(outputs)) {
    return { outputs: toPlain(outputs) };
  }
  options.clock.enter("storing results");
  // Storing may take long, and the disk is others' as well.
  await removeFolder(join(folder, "journal/work"));
  recorder.report({ progress: STAGED_IN + RUN, message: "Storing results." });
  const origin = {
    inputs: [...new Set(sources.flatMap(({ href }) => (href.startsWith("data:") ? [] : [displayUrl(href)])))],
    process: job.process_id,
    version: describePackage(document).version,
  };
  const target = storage ?? (await waitForStorage(options, () => findStorage(settings, job.owner)));
  return store(outputs, { job, folder, title: job.process_id, storage: target, recorder, traffic, origin, options });
}

interface Run {
  readonly document: LoadedDocument;
  /** Has those of the package, and reaches nothing else. */
  readonly ontologies: Fetcher;
  readonly inputs: Record<string, unknown>;
  readonly folder: string;
  readonly recorder: JobRecorder;
}

/** Runs the package with the limits of the operator. */
async function runTools(
  job: ClaimedJob,
  { document, ontologies, inputs, folder, recorder }: Run,
  { settings, limits, clock, signal }: RunOptions,
): Promise<ValueObject> {
  const mayUseNetwork = readNetworkRule(settings)(job.owner, job.process_id);
  const { executors, close } = await openJobExecutors(settings, { ...job, mayUseNetwork });
  const disk = watchDisk(folder, settings.MAX_DISK_MIB, signal);
  try {
    return await retryWhileUnavailable(
      () =>
        runProcess({
          document,
          inputs,
          fetcher: ontologies,
          executors,
          hostFallback: true,
          journal: join(folder, "journal"),
          // They go with the folder, when nobody waits.
          keepJournalWork: true,
          outDir: join(folder, "out"),
          inputRoots: [join(folder, "in")],
          limits: { ...limits, toolSeconds: settings.MAX_TOOL_SECONDS },
          path: toolPath(settings),
          signal: disk.signal,
          onEvent: (event) => {
            clock.moved();
            recorder.onEvent(event);
          },
        }),
      {
        signal: disk.signal,
        isTransient: (error) => error instanceof CwlError && error.code === "infrastructure",
        timeout: RUN_TIMEOUT,
      },
    );
  } catch (error) {
    throw disk.exceeded() ?? error;
  } finally {
    disk.stop();
    await close();
  }
}

interface Results {
  readonly job: ClaimedJob;
  readonly folder: string;
  readonly title: string;
  readonly storage: UserStorage;
  readonly recorder: JobRecorder;
  readonly traffic: Traffic;
  readonly origin: Origin;
  readonly options: RunOptions;
}

async function store(
  outputs: ValueObject,
  { job, folder, title, storage, recorder, traffic, origin, options }: Results,
): Promise<JobResult> {
  const directory = findOutputFolder(outputs, join(folder, "out"));
  const stored = await waitForStorage(
    options,
    () =>
      stageOut({
        directory,
        target: storage.target,
        prefix: `processing-results/${job.id}`,
        jobId: job.id,
        title,
        origin,
        signal: options.signal,
        onProgress: (bytes, total) => {
          options.clock.moved();
          if (total !== undefined && total > 0) {
            recorder.report({ progress: STAGED_IN + RUN + ((100 - STAGED_IN - RUN) * bytes) / total });
          }
        },
      }),
    () => recorder.report({ message: "The object storage does not answer; storing results goes on when it is back." }),
  );
  traffic.bytesOut = stored.files.reduce((sum, { bytes }) => sum + bytes, 0);
  return { outputs: toStored(outputs, stored), catalogUri: stored.catalogUri, collection: stored.collection };
}

/** Does what needs the storage, also when it is away for some minutes: what was computed is worth the wait. */
function waitForStorage<T>({ signal, logger }: RunOptions, work: () => Promise<T>, onWait = () => {}): Promise<T> {
  return retryWhileUnavailable(work, {
    signal,
    isTransient: (error) => isStorageAway(error),
    timeout: STORAGE_TIMEOUT,
    onWait: (error) => {
      logger.warn({ err: error }, "the storage is away");
      onWait();
    },
  });
}

function persist<T>({ signal, logger }: RunOptions, work: () => Promise<T>): Promise<T> {
  return retryWhileUnavailable(work, {
    signal,
    isTransient: isUnavailable,
    onWait: (error) => logger.warn({ err: error }, "the database is away; waiting for it"),
  });
}
