import { setTimeout as sleep } from "node:timers/promises";

import { StacError } from "@swath/stac";
import { type Logger, isUnavailable } from "@swath/service";
import type pg from "pg";

import { type RecordProblem, addProblems, clearProblems } from "../store/problems.ts";
import { type ClaimedTask, LEASE_SECONDS, type TaskResult, endTask, postponeTask, renewLease } from "../store/tasks.ts";
import { LeaseLostError, RegistrationError } from "./errors.ts";
import { MAX_ATTEMPTS, MAX_UNEXPECTED_ATTEMPTS, toDelay } from "./retry.ts";

/** What a registrar may do while it works on a task. */
export interface TaskContext {
  readonly task: ClaimedTask;
  /** Aborts when the task is cancelled, given to another worker, or the worker stops. */
  readonly signal: AbortSignal;
  readonly count: (counted: Partial<Record<"registered" | "unchanged" | "removed" | "failed", number>>) => void;
  readonly noteRecord: (record: string) => void;
  /** Names records that cannot be registered; the others go on. */
  readonly report: (problems: readonly RecordProblem[]) => Promise<void>;
  /** Notes how far it is, so that another worker can go on from there. @throws {LeaseLostError} */
  readonly save: (position?: object) => Promise<void>;
}

export type Registrar = (context: TaskContext) => Promise<void>;

interface RunOptions {
  readonly pool: pg.Pool;
  readonly logger: Logger;
  readonly registrarOf: (kind: string) => Registrar | undefined;
  readonly stopping: AbortSignal;
}

const MAX_NAMED_RECORDS = 20;
const MAX_SHOWN_NAME = 300;
/** Milliseconds before it is tried again to note what came of a task. */
const RECORD_RETRY_MS = 500;

/** Carries a task out under its lease, and notes what came of it. */
export async function runTask({ pool, logger, registrarOf, stopping }: RunOptions, task: ClaimedTask): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([lost.signal, stopping]);
  const counts = { registered: 0, unchanged: 0, removed: 0, failed: 0 };
  if (task.position !== null && task.result !== null) {
    const { registered, unchanged, removed, failed } = task.result;
    Object.assign(counts, { registered, unchanged, removed, failed });
  }
  const records: string[] = [];
  let only: RecordProblem | undefined;
  const toResult = (): TaskResult => ({ ...counts, ...(records.length > 0 && { records }) });
  const save = async (position?: object): Promise<void> => {
    if (!(await renewLease(pool, task, { result: toResult(), ...(position !== undefined && { position }) }))) {
      lost.abort(new LeaseLostError());
      throw new LeaseLostError();
    }
  };
  const heartbeat = setInterval(
    () => {
      // A failure is met by the next write; a lease that is lost ends the work.
      save().catch(() => {});
    },
    (LEASE_SECONDS / 4) * 1000,
  );
  try {
    if (task.position === null) {
      await clearProblems(pool, task.id);
    }
    const registrar = registrarOf(task.kind);
    if (registrar === undefined) {
      throw new RegistrationError(
        `Nothing registers "${task.kind}" in this version; deploy a newer one and repeat this.`,
      );
    }
    await registrar({
      task,
      signal,
      save,
      count: (counted) => {
        for (const key of Object.keys(counted) as (keyof typeof counts)[]) {
          counts[key] += counted[key] ?? 0;
        }
      },
      noteRecord: (record) => {
        if (records.length < MAX_NAMED_RECORDS) {
          records.push(record);
        }
      },
      report: async (problems) => {
        only ??= problems[0];
        counts.failed += problems.length;
        await addProblems(pool, task.id, problems);
      },
    });
    const isNothing = counts.failed > 0 && counts.registered + counts.unchanged + counts.removed === 0;
    await recordOutcome(stopping, () =>
      endTask(pool, task, {
        state: isNothing ? "failed" : "done",
        result: toResult(),
        ...(counts.failed > 0 && { reason: describeProblems(counts.failed, only) }),
      }),
    );
  } catch (error) {
    if (error instanceof LeaseLostError || lost.signal.aborted) {
      logger.info({ task: task.id }, "task was cancelled or taken over");
      return;
    }
    const failure = { error, isStopping: stopping.aborted, result: toResult() };
    await recordOutcome(stopping, () => recordFailure({ pool, logger }, task, failure));
  } finally {
    clearInterval(heartbeat);
  }
}

function describeProblems(count: number, first: RecordProblem | undefined): string {
  return count === 1 && first !== undefined
    ? `${first.record.slice(0, MAX_SHOWN_NAME)} could not be registered: ${first.reason}`
    : `${count} records could not be registered; problems names them.`;
}

/**
 * Notes what came of a task. A database that is away is waited for as long as the lease may last: after that, another worker has the task.
 */
async function recordOutcome(stopping: AbortSignal, record: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + LEASE_SECONDS * 1000;
  for (;;) {
    try {
      await record();
      return;
    } catch (error) {
      if (!isUnavailable(error) || stopping.aborted || Date.now() > deadline) {
        throw error;
      }
      await sleep(RECORD_RETRY_MS);
    }
  }
}

interface Failure {
  readonly error: unknown;
  readonly isStopping: boolean;
  readonly result: TaskResult;
}

async function recordFailure(
  { pool, logger }: Pick<RunOptions, "pool" | "logger">,
  task: ClaimedTask,
  { error, isStopping, result }: Failure,
): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  if (isStopping) {
    await postponeTask(pool, task, { reason: "The worker stopped; another one goes on.", seconds: 0 });
    return;
  }
  // A document that is no STAC will be none at the next attempt either.
  const known =
    error instanceof RegistrationError
      ? error
      : error instanceof StacError
        ? new RegistrationError(reason, { cause: error })
        : undefined;
  const isTransient = known?.isTransient ?? isUnavailable(error);
  if (known === undefined && !isTransient) {
    logger.error({ err: error, task: task.id, kind: task.kind }, "task failed unexpectedly");
  }
  const limit = isTransient ? MAX_ATTEMPTS : known === undefined ? MAX_UNEXPECTED_ATTEMPTS : 1;
  if (task.attempts < limit) {
    const seconds = Math.max(toDelay(task.attempts), known?.retryAfter ?? 0);
    logger.info({ task: task.id, kind: task.kind, attempts: task.attempts, reason }, "task postponed");
    await postponeTask(pool, task, { reason, seconds });
    return;
  }
  logger.info({ task: task.id, kind: task.kind, reason }, "task set aside");
  const tried = limit > 1 ? ` It was tried ${task.attempts} times.` : "";
  await endTask(pool, task, { state: "failed", reason: `${reason}${tried}`, result });
}
