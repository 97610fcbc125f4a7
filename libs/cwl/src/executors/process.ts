import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { CwlError, messageOf } from "../errors.ts";
import type { Executor, JobResult, JobSpec, RunControls } from "./executor.ts";
import { groupIsAlive, killAll, killTree, markerVariable, nowInTicks } from "./kill-tree.ts";
import { LogTail } from "./log-tail.ts";
import { UsageSampler } from "./usage.ts";

/** How long a tool may take to end itself when it is asked to. */
const graceMs = 700;

/** Runs tools as processes of this machine, each in a session of its own. */
export function createProcessExecutor(): Executor {
  /** When each run that goes on started its first job: nothing older is its own. */
  const since = new Map<string, number>();
  return {
    kind: "process",
    sharesFileSystem: true,
    run: (job, controls) => {
      const run = job.id.slice(0, job.id.lastIndexOf("-") + 1);
      if (!since.has(run)) {
        since.set(run, nowInTicks());
      }
      return runProcessJob(job, controls);
    },
    cleanUp: async (jobIds) => {
      for (const id of jobIds) {
        await killAll({ marker: id, leader: undefined, directory: undefined, since: since.get(id) });
        since.delete(id);
      }
    },
    removeOrphans: (runId) => killTree({ marker: `${runId}-`, leader: undefined, directory: undefined }, graceMs),
  };
}

async function runProcessJob(job: JobSpec, controls: RunControls): Promise<JobResult> {
  controls.signal.throwIfAborted();
  const files = openStreams(job);
  const started = performance.now();
  let child: ChildProcess;
  try {
    const [command = "", ...args] = job.command;
    child = spawn(command, args, {
      cwd: job.outdir.host,
      env: { ...job.environment, [markerVariable]: job.id },
      // Its own session: a terminal's signals do not reach it, and one number names all of it.
      detached: true,
      stdio: [files.stdin, files.stdout, files.stderr],
    });
  } catch (error) {
    throw asStartFailure(error, job);
  } finally {
    for (const file of files.all) {
      closeSync(file);
    }
  }
  return await watch(child, job, controls, started);
}

async function watch(child: ChildProcess, job: JobSpec, controls: RunControls, started: number): Promise<JobResult> {
  const tail = new LogTail();
  const onData = (chunk: Buffer): void => {
    const text = chunk.toString();
    tail.add(text);
    controls.onLog(text);
  };
  child.stdout?.on("data", onData);
  child.stderr?.on("data", onData);
  const sampler = new UsageSampler(child.pid);
  const search = { marker: job.id, leader: child.pid, directory: job.outdir.host };
  let timedOut = false;
  let ending: Promise<void> | undefined;
  const end = (): void => {
    ending ??= killTree(search, graceMs);
  };
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
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once("error", (error) => reject(asStartFailure(error, job)));
      // "exit", not "close": a background process that keeps our pipe open must not keep the job alive.
      child.once("exit", (code, signal) => resolve(code ?? 128 + signalNumber(signal)));
    });
    const wallSeconds = (performance.now() - started) / 1000;
    await ending;
    if (child.pid !== undefined && groupIsAlive(child.pid)) {
      await killAll(search);
    }
    await drained(child);
    controls.signal.throwIfAborted();
    return { exitCode, timedOut, usage: { wallSeconds, ...sampler.stop() }, logTail: tail.toString() };
  } catch (error) {
    throw controls.signal.aborted ? new CwlError("cancelled", "the run was cancelled", { cause: error }) : error;
  } finally {
    clearTimeout(timer);
    sampler.stop();
    controls.signal.removeEventListener("abort", end);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** Waits a moment for what is still in the pipes; a process outside our reach may hold them open for ever. */
async function drained(child: ChildProcess): Promise<void> {
  const open = [child.stdout, child.stderr].filter((stream) => stream !== null && !stream.readableEnded);
  if (open.length > 0) {
    await Promise.race([
      Promise.all(open.map((stream) => new Promise((resolve) => stream?.once("end", resolve)))),
      new Promise((resolve) => setTimeout(resolve, 200).unref()),
    ]);
  }
}

type Stdio = number | "pipe" | "ignore";

function openStreams(job: JobSpec): { stdin: Stdio; stdout: Stdio; stderr: Stdio; all: number[] } {
  const all: number[] = [];
  const open = (path: string, flags: number): number => {
    try {
      const file = openSync(path, flags, 0o644);
      all.push(file);
      return file;
    } catch (error) {
      for (const file of all) {
        closeSync(file);
      }
      throw new CwlError("process-failed", `${job.name}: cannot open ${path}: ${messageOf(error)}`, { cause: error });
    }
  };
  // Never through a link that an earlier stage put there.
  const create = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const stdin = job.stdin === undefined ? "ignore" : open(job.stdin, constants.O_RDONLY);
  const stdout = job.stdout === undefined ? "pipe" : open(job.stdout, create);
  const stderr = job.stderr === undefined ? "pipe" : job.stderr === job.stdout ? stdout : open(job.stderr, create);
  return { stdin, stdout, stderr, all };
}

function asStartFailure(error: unknown, job: JobSpec): CwlError {
  const { code = "" } = error as NodeJS.ErrnoException;
  const command = job.command[0] ?? "";
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
