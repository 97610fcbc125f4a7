import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

import type { FromRunner, JobLimits, ToRunner } from "../runner/messages.ts";
import { type JobStage, stageDeadline } from "../runner/stage-clock.ts";
import type { ClaimedJob } from "../store/queue.ts";

const RUNNER = fileURLToPath(new URL("../runner/main.ts", import.meta.url));
/** Milliseconds that a runner may take to stop its tools. */
const TIMEOUT = 5000;
/** Milliseconds that a runner is kept without a job. */
const KEPT = 60_000;
/** Seconds that a runner may take to be ready, at least. */
const START_SECONDS = 60;
/** Milliseconds between looks at runners. */
const LOOK_MS = 5000;
/** Milliseconds before a spare runner is started after one was taken: the job that took it goes first. */
const SPARE_PAUSE = 1000;
/** Runners that are kept without a job; with more, the one that waits longest goes. */
const MAX_KEPT = 4;
/** Jobs of a runner's life, so that nothing grows for ever. Its start costs as much as twenty small jobs; its memory has a limit of its own. */
const MAX_JOBS = 1000;

/** Processes that carry jobs out, started before they are needed. */
export interface RunnerPool {
  /** Hands a job to a runner. */
  readonly run: (job: ClaimedJob, limits: JobLimits) => void;
  /** Ends a job's runner with everything it started; `onEnd` follows. */
  readonly stop: (id: string) => void;
  /** What was heard of the runner of a job. */
  readonly heard: (id: string) => { readonly silentMs: number; readonly stage: JobStage | undefined } | undefined;
  readonly close: () => Promise<void>;
}

interface PoolOptions {
  /** Environment that runners inherit. */
  readonly env: NodeJS.ProcessEnv;
  /** Seconds that a runner may take to be heard of again. */
  readonly silentSeconds: number;
  /** Seconds that a tool may run, and so may be silent. */
  readonly toolSeconds: number;
  readonly onEnd: (job: ClaimedJob, how: RunnerExit) => void;
}

/** How a runner parted with its job: it ended it, was asked to stop, or died (a signal or status). */
export type RunnerExit = { readonly kind: "done" | "stopped" } | { readonly kind: "died"; readonly of: string };

interface Runner {
  readonly child: ChildProcess;
  isReady: boolean;
  /** Whose job it carried out last: that user's packages are loaded in it. It runs nothing of a user itself, tools are outside it. */
  owner: string | undefined;
  /** When it was started or heard of. */
  heardAt: number;
  at: { readonly stage: JobStage; readonly stillMs: number } | undefined;
  /** Why it was killed. */
  killedFor: string | undefined;
  job: ClaimedJob | undefined;
  waiting: ToRunner | undefined;
  jobs: number;
  isStopping: boolean;
  retire: NodeJS.Timeout | undefined;
}

/**
 * Keeps a runner with everything loaded ready beside those at work. One that has worked is kept a while for the next job, of the
 * same user first. One that stands still or is not heard of any more is ended, so that its job is taken again.
 */
export function openRunnerPool({ env, silentSeconds, toolSeconds, onEnd }: PoolOptions): RunnerPool {
  const runners = new Set<Runner>();
  let closed = false;
  let spare: NodeJS.Timeout | undefined;

  const start = (): Runner => {
    const child = fork(RUNNER, [], {
      env,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
      // What a runner holds itself is small; files and tools are outside it.
      execArgv: ["--max-old-space-size=512"],
    });
    const runner: Runner = {
      child,
      isReady: false,
      owner: undefined,
      heardAt: performance.now(),
      at: undefined,
      killedFor: undefined,
      job: undefined,
      waiting: undefined,
      jobs: 0,
      isStopping: false,
      retire: undefined,
    };
    runners.add(runner);
    child.on("message", (message) => take(runner, message as FromRunner));
    child.once("error", (error) => ended(runner, error.message));
    child.once("exit", (code, signal) => ended(runner, signal ?? `status ${code ?? "unknown"}`));
    return runner;
  };
  const take = (runner: Runner, message: FromRunner) => {
    runner.heardAt = performance.now();
    if (message.type === "alive") {
      runner.at = message.at;
      return;
    }
    if (message.type === "ready") {
      runner.isReady = true;
      send(runner, runner.waiting);
      runner.waiting = undefined;
      return;
    }
    const { job } = runner;
    if (job?.id !== message.job || runner.isStopping) {
      return;
    }
    runner.job = undefined;
    if (message.isWorn || runner.jobs >= MAX_JOBS) {
      stop(runner);
    } else {
      runner.retire = setTimeout(() => stop(runner), KEPT).unref();
      // The set is in the order in which they last ended a job.
      runners.delete(runner);
      runners.add(runner);
      [...runners]
        .filter(isFree)
        .slice(0, -MAX_KEPT)
        .forEach((other) => stop(other));
    }
    onEnd(job, { kind: "done" });
  };
  const ended = (runner: Runner, how: string) => {
    if (!runners.delete(runner)) {
      return;
    }
    clearTimeout(runner.retire);
    const { job } = runner;
    runner.job = undefined;
    if (job !== undefined) {
      onEnd(job, runner.isStopping ? { kind: "stopped" } : { kind: "died", of: runner.killedFor ?? how });
    }
    keepSpare();
  };
  const send = (runner: Runner, message: ToRunner | undefined) => {
    if (message !== undefined && runner.child.connected) {
      // A runner that is gone says so by its exit.
      runner.child.send(message, () => {});
    }
  };
  const stop = (runner: Runner, resumes = false) => {
    if (runner.isStopping) {
      return;
    }
    runner.isStopping = true;
    clearTimeout(runner.retire);
    if (runner.isReady) {
      send(runner, { type: "stop", resumes });
      setTimeout(() => runner.child.kill("SIGKILL"), TIMEOUT).unref();
    } else {
      runner.child.kill("SIGKILL");
    }
  };
  const isFree = ({ job, isStopping }: Runner) => job === undefined && !isStopping;
  const keepSpare = () => {
    if (!closed && ![...runners].some((runner) => isFree(runner))) {
      spare ??= setTimeout(() => {
        spare = undefined;
        if (!closed && ![...runners].some((runner) => isFree(runner))) {
          start();
        }
      }, SPARE_PAUSE).unref();
    }
  };
  const choose = (owner: string): Runner => {
    const free = [...runners].filter(isFree);
    const known = free.find((runner) => runner.owner === owner);
    return known ?? free.find(({ isReady }) => isReady) ?? free[0] ?? start();
  };
  /** Why a runner is not worth waiting for any longer. */
  const whyHopeless = ({ isReady, job, heardAt, at }: Runner): string | undefined => {
    // On a busy machine a start takes longer than a sign of life.
    const timeout = isReady ? silentSeconds : Math.max(silentSeconds, START_SECONDS);
    if (performance.now() - heardAt > timeout * 1000) {
      return `it was not ${isReady ? "heard of" : "ready"} for ${timeout} s`;
    }
    const isStill = job !== undefined && at !== undefined && at.stillMs > stageDeadline(at.stage, toolSeconds);
    return isStill ? `it made no progress for ${Math.round(at.stillMs / 60_000)} minutes while ${at.stage}` : undefined;
  };
  const looking = setInterval(() => {
    for (const runner of runners) {
      const why = runner.killedFor === undefined ? whyHopeless(runner) : undefined;
      if (why !== undefined) {
        runner.killedFor = why;
        runner.child.kill("SIGKILL");
      }
    }
  }, LOOK_MS).unref();
  start();
  return {
    run: (job, limits) => {
      const runner = choose(job.owner);
      clearTimeout(runner.retire);
      runner.owner = job.owner;
      runner.job = job;
      runner.at = undefined;
      runner.jobs += 1;
      const message = { type: "run", job, limits } as const;
      if (runner.isReady) {
        send(runner, message);
      } else {
        runner.waiting = message;
      }
      keepSpare();
    },
    stop: (id) => {
      for (const runner of runners) {
        if (runner.job?.id === id) {
          stop(runner);
        }
      }
    },
    heard: (id) => {
      const runner = [...runners].find(({ job }) => job?.id === id);
      return runner && { silentMs: performance.now() - runner.heardAt, stage: runner.at?.stage };
    },
    close: async () => {
      closed = true;
      clearTimeout(spare);
      clearInterval(looking);
      await Promise.all(
        [...runners].map((runner) => {
          const gone = new Promise((resolve) => runner.child.once("exit", resolve));
          stop(runner, true);
          return gone;
        }),
      );
    },
  };
}
