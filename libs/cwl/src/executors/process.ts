import { CwlError, messageOf } from "../errors.ts";
import type { Executor, JobResult, JobSpec, RunControls } from "./executor.ts";
import { HelperPool } from "./helper-pool.ts";
import { guardMemory } from "./memory-guard.ts";
import type { ProcessTimestamp } from "./kill-tree.ts";
import { groupIsAlive, killAll, killTree, markerVariable, now } from "./kill-tree.ts";
import { LogTail } from "./log-tail.ts";
import type { RunningCommand } from "./running-command.ts";
import type { StartError } from "./start-command.ts";
import { UsageSampler } from "./usage.ts";

/** How long a tool may take to end itself when it is asked to. */
const graceMs = 700;

/** After so many jobs of one run there are probably many more, and a helper is worth its own start. */
const manyJobs = 16;

interface KnownRun {
  /** When it started its first job: nothing older is its own. */
  readonly since: ProcessTimestamp;
  jobs: number;
}

export interface ProcessExecutorOptions {
  /** Ends a command that uses more memory, with all it has started, than its job's limit. */
  readonly limitMemory?: boolean | undefined;
}

/** Runs tools as processes of this machine, each in a session of its own. */
export function createProcessExecutor({ limitMemory = false }: ProcessExecutorOptions = {}): Executor {
  const runs = new Map<string, KnownRun>();
  const helpers = new HelperPool();
  return {
    kind: "process",
    sharesFileSystem: true,
    run: (job, controls) => {
      const id = job.id.slice(0, job.id.lastIndexOf("-") + 1);
      let run = runs.get(id);
      if (run === undefined) {
        run = { since: now(), jobs: 0 };
        runs.set(id, run);
      }
      run.jobs += 1;
      if (run.jobs > manyJobs) {
        helpers.open();
      }
      return runProcessJob(limitMemory ? job : { ...job, ramLimitMiB: 0 }, controls, helpers);
    },
    cleanUp: async (jobIds, workDir) => {
      for (const id of jobIds) {
        const { since } = runs.get(id) ?? {};
        await killAll({ marker: id, homes: homesIn(workDir), leader: undefined, directory: undefined, since });
        runs.delete(id);
      }
      // Any run may have commands with a helper by now.
      if (runs.size === 0) {
        helpers.close();
      }
    },
    removeOrphans: (runId, workDir) => {
      return killTree(
        { marker: `${runId}-`, homes: homesIn(workDir), leader: undefined, directory: undefined },
        graceMs,
      );
    },
  };
}

/** All directories below a run's own. Never a parent that others share, such as /tmp: their processes would be taken for the run's. */
function homesIn(workDir: string | undefined): readonly string[] {
  return workDir === undefined ? [] : [`${workDir}/`];
}

async function runProcessJob(job: JobSpec, controls: RunControls, helpers: HelperPool): Promise<JobResult> {
  controls.signal.throwIfAborted();
  const started = performance.now();
  const tail = new LogTail();
  const onOutput = (text: string): void => {
    tail.add(text);
    controls.onLog(text);
  };
  let command: RunningCommand;
  try {
    command = await helpers.start(
      {
        command: job.command,
        environment: isAtHome(job) ? job.environment : { ...job.environment, [markerVariable]: job.id },
        directory: job.outdir.host,
        stdin: job.stdin,
        stdout: job.stdout,
        stderr: job.stderr,
      },
      onOutput,
    );
  } catch (error) {
    throw asStartFailure(error, job);
  }
  return await watch(command, job, controls, { started, tail });
}

/** Whether the processes of a job can be told by their HOME or TMPDIR; a tool may set others. */
function isAtHome({ environment, outdir, tmpdir }: JobSpec): boolean {
  return environment["HOME"] === outdir.host || environment["TMPDIR"] === tmpdir.host;
}

async function watch(
  command: RunningCommand,
  job: JobSpec,
  controls: RunControls,
  { started, tail }: { readonly started: number; readonly tail: LogTail },
): Promise<JobResult> {
  const sampler = new UsageSampler(command.pid);
  const search = {
    marker: job.id,
    homes: [job.outdir.host, job.tmpdir.host],
    leader: command.pid,
    directory: job.outdir.host,
  };
  let timedOut = false;
  let outOfMemory = false;
  let ending: Promise<void> | undefined;
  const end = (): void => {
    ending ??= killTree(search, graceMs);
  };
  const stopGuard = guardMemory(command.pid, job.ramLimitMiB * 2 ** 20, () => {
    outOfMemory = true;
    // Asking would give it time to take the rest of the machine.
    ending ??= killAll(search);
  });
  const timer =
    job.timeLimitSeconds > 0
      ? setTimeout(() => {
          timedOut = true;
          end();
        }, job.timeLimitSeconds * 1000)
      : undefined;
  controls.signal.addEventListener("abort", end, { once: true });
  if (controls.signal.aborted) {
    end();
  }
  try {
    const { code, signal } = await command.ended;
    const wallSeconds = (performance.now() - started) / 1000;
    await ending;
    if (command.pid !== undefined && groupIsAlive(command.pid)) {
      await killAll(search);
    }
    await command.drain();
    controls.signal.throwIfAborted();
    const exitCode = code ?? 128 + signalNumber(signal);
    return { exitCode, timedOut, outOfMemory, usage: { wallSeconds, ...sampler.stop() }, logTail: tail.toString() };
  } catch (error) {
    // A helper that died leaves what it had started.
    await killAll(search);
    throw controls.signal.aborted
      ? new CwlError("cancelled", "the run was cancelled", { cause: error })
      : asStartFailure(error, job);
  } finally {
    clearTimeout(timer);
    stopGuard();
    sampler.stop();
    controls.signal.removeEventListener("abort", end);
    command.close();
  }
}

function asStartFailure(error: unknown, job: JobSpec): CwlError {
  const { code = "", path } = error as Partial<StartError>;
  const command = job.command[0] ?? "";
  if (path !== undefined) {
    return new CwlError("process-failed", `${job.name}: cannot open ${path}: ${messageOf(error)}`, { cause: error });
  }
  switch (code) {
    case "ENOENT":
      return new CwlError(
        "process-failed",
        `${job.name}: the command ${JSON.stringify(command)} was not found on this machine`,
        { exitCode: 127, cause: error },
      );
    case "EACCES":
      return new CwlError("process-failed", `${job.name}: the command ${JSON.stringify(command)} may not be executed`, {
        exitCode: 126,
        cause: error,
      });
    case "E2BIG":
      return new CwlError("process-failed", `${job.name}: the command line is longer than this machine allows`, {
        cause: error,
      });
    case "EAGAIN":
    case "ENOMEM":
    case "EMFILE":
    case "ENFILE":
    case "EHELPER":
      return new CwlError("infrastructure", `${job.name}: the machine could not start a process (${code})`, {
        cause: error,
      });
    default:
      return new CwlError("process-failed", `${job.name}: ${messageOf(error)}`, { cause: error });
  }
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === "SIGKILL" ? 9 : signal === "SIGTERM" ? 15 : signal === "SIGSEGV" ? 11 : signal === "SIGINT" ? 2 : 1;
}
