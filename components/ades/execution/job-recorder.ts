import type { ResourceUsage, RunEvent } from "@swath/cwl";
import type { Logger } from "@swath/service";
import type { Kysely } from "kysely";

import { type JobUpdates, type LogRecord, type StepRecord, saveJobUpdates } from "../store/job-records.ts";
import type { HeldJob } from "../store/queue.ts";
import type { Tables } from "../store/tables.ts";
import { withoutPlaces } from "./failure-message.ts";

/** Share of the progress bar that fetching inputs, running and storing results have. */
export const STAGED_IN = 10;
export const RUN = 80;

/** Milliseconds that news of a job may wait for more. */
const PAUSE = 200;
/** Characters of log that are kept of one job. A tool that says more says the same again and again. */
const MAX_LOG = 8 * 2 ** 20;

/** Collects what happens in a job and writes it down now and then, without holding up the run. */
export interface JobRecorder {
  readonly onEvent: (event: RunEvent) => void;
  readonly report: (updates: { readonly progress?: number; readonly message?: string }) => void;
  /** Takes what is not written yet, for the statement that ends the job. Later news are dropped. */
  readonly drain: () => Promise<JobUpdates>;
}

interface StepChange {
  readonly exitCode?: number | undefined;
  readonly message?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly image?: string | undefined;
  readonly usage?: ResourceUsage | undefined;
}

type Started = Pick<StepRecord, "startedAt" | "command" | "image">;

interface RecorderOptions {
  readonly db: Kysely<Tables>;
  readonly logger: Logger;
}

export function createJobRecorder(job: HeldJob, folder: string, { db, logger }: RecorderOptions): JobRecorder {
  const started = new Map<string, Started>();
  let steps = new Map<string, StepRecord>();
  let log: LogRecord[] = [];
  let progress: number | undefined;
  let message: string | undefined;
  let logged = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let closed = false;

  const take = (): JobUpdates => {
    const updates = { steps: [...steps.values()], log, progress, message };
    [steps, log, progress, message] = [new Map(), [], undefined, undefined];
    return updates;
  };
  const write = () => {
    timer = undefined;
    writing = saveJobUpdates(db, job, take())
      // Records of a job are worth less than the job; while the database is away some are missed.
      .catch((error: unknown) => logger.warn({ job: job.id, err: error }, "cannot note what a job does"))
      .finally(() => {
        writing = undefined;
        if (steps.size > 0 || log.length > 0 || progress !== undefined || message !== undefined) {
          later();
        }
      });
  };
  const later = () => {
    if (!closed && writing === undefined) {
      timer ??= setTimeout(write, PAUSE);
    }
  };
  const setStep = (
    event: { readonly step: string; readonly time: string },
    status: StepRecord["status"],
    more: StepChange = {},
  ) => {
    const isEnd = status !== "running";
    const startedAt = (isEnd ? started.get(event.step) : undefined) ?? {
      startedAt: event.time,
      command: more.command ?? null,
      image: more.image ?? null,
    };
    if (isEnd) {
      started.delete(event.step);
    } else {
      started.set(event.step, startedAt);
    }
    steps.set(event.step, {
      ...startedAt,
      name: event.step,
      status,
      exitCode: more.exitCode ?? null,
      message: more.message ?? null,
      finishedAt: isEnd ? event.time : null,
      cpuSeconds: more.usage?.cpuSeconds ?? null,
      peakMemoryBytes: more.usage?.peakMemoryBytes ?? null,
      wallSeconds: more.usage?.wallSeconds ?? null,
      bytesIn: more.usage?.bytesIn ?? null,
      bytesOut: more.usage?.bytesOut ?? null,
    });
  };
  const addLog = ({ time, step, text }: { readonly time: string; readonly step: string; readonly text: string }) => {
    if (logged > MAX_LOG) {
      return;
    }
    logged += text.length;
    log.push({ at: time, step, text });
    if (logged > MAX_LOG) {
      log.push({
        at: time,
        step,
        text: `\n[The log is longer than ${MAX_LOG} characters; what follows is not kept.]\n`,
      });
    }
  };
  return {
    onEvent: (event) => {
      switch (event.type) {
        case "step-started":
          setStep(event, "running", event);
          break;
        case "step-finished":
          setStep(event, "successful", event);
          break;
        case "step-failed":
          setStep(event, "failed", { exitCode: event.exitCode, message: withoutPlaces(event.message, folder) });
          break;
        case "step-skipped":
          setStep(event, "skipped");
          break;
        case "step-log":
          addLog(event);
          break;
        case "progress":
          progress = STAGED_IN + (RUN * event.percent) / 100;
          break;
        default:
          return;
      }
      later();
    },
    report: (updates) => {
      progress = updates.progress ?? progress;
      message = updates.message ?? message;
      later();
    },
    drain: async () => {
      closed = true;
      clearTimeout(timer);
      await writing;
      return take();
    },
  };
}
