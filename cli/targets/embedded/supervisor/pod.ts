import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { PREDECESSOR_GONE, WAITS_FOR_PREDECESSOR } from "@swath/service/await-predecessor";

import type { PodPhase } from "../../pod-status.ts";
import { commandOf } from "../accounts/command-of.ts";
import { sealSockets } from "../accounts/seal-sockets.ts";
import type { ServiceAccounts } from "../accounts/service-accounts.ts";
import { repositoryRoot } from "../launch/code-version.ts";
import type { LaunchSpec } from "../launch/launch-spec.ts";
import type { ClusterPaths } from "../state/paths.ts";
import { createBackOff } from "./back-off.ts";
import { logFile, openLog } from "./log-files.ts";
import { readLastLine } from "./log-tail.ts";
import { drains, podEnvironment } from "./pod-environment.ts";
import { makePodFolders } from "./pod-folders.ts";
import { type ProbeLoop, startProbes } from "./probe-loop.ts";
import { findMarkedProcesses, isRunning, readStat, signalPod, signalProcess } from "./processes.ts";

/** What the next supervisor needs to know of a pod. */
export interface PodRecord {
  readonly name: string;
  readonly workload: string;
  readonly hash: string;
  readonly createdAt: string;
  readonly restarts: number;
  readonly completed: boolean;
  readonly pid?: number;
  readonly startedAt?: string;
}

interface PodOptions {
  readonly spec: LaunchSpec;
  readonly paths: ClusterPaths;
  readonly name: string;
  /** Undefined where all services run as the operator. */
  readonly accounts: ServiceAccounts | undefined;
  /** Called after every change of phase, readiness or message. */
  readonly onChange: () => void;
  readonly record?: PodRecord | undefined;
}

const ADOPTED_POLL_MS = 250;

/** One instance of a workload: a process that is started, probed, restarted when it ends, and stopped. */
export class Pod {
  readonly name: string;
  /** Of the same hash always; what may change while the pod runs is that of the latest. */
  spec: LaunchSpec;
  readonly directory: string;
  readonly createdAt: string;
  phase: PodPhase = "Pending";
  ready = false;
  message: string | undefined;
  restarts: number;
  pid: number | undefined;
  /** Whether another process still has what it is going to open: then it loads, and opens nothing before `proceed`. */
  hasPredecessor = false;
  /** True from the moment it is asked to stop. */
  stopping = false;
  /** True when it has stopped for good. */
  gone = false;
  #startedAt: string | undefined;
  #child: ChildProcess | undefined;
  #probes: ProbeLoop | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped: (() => void)[] = [];
  readonly #backOff = createBackOff();
  readonly #paths: ClusterPaths;
  readonly #accounts: ServiceAccounts | undefined;
  readonly #onChange: () => void;

  constructor({ spec, paths, name, accounts, onChange, record }: PodOptions) {
    this.name = name;
    this.spec = spec;
    this.directory = join(paths.run, "pods", name);
    this.createdAt = record?.createdAt ?? new Date().toISOString();
    this.restarts = record?.restarts ?? 0;
    this.#paths = paths;
    this.#accounts = accounts;
    this.#onChange = onChange;
    if (record?.completed) {
      this.phase = "Completed";
    }
  }

  get record(): PodRecord {
    return {
      name: this.name,
      workload: this.spec.workload.name,
      hash: this.spec.hash,
      createdAt: this.createdAt,
      restarts: this.restarts,
      completed: this.phase === "Completed",
      ...(this.pid !== undefined && { pid: this.pid }),
      ...(this.#startedAt !== undefined && { startedAt: this.#startedAt }),
    };
  }

  /** Says why it has not been started yet. */
  wait(reason: string): void {
    if (this.message !== reason) {
      this.message = reason;
      this.#onChange();
    }
  }

  /** Its program is loaded, and waits for its predecessor's end. */
  get waitsForPredecessor(): boolean {
    return this.phase === "Running" && this.message === WAITS_FOR_PREDECESSOR;
  }

  /** Nothing of its predecessor is left. */
  proceed(): void {
    if (this.pid !== undefined && this.waitsForPredecessor) {
      signalProcess(this.pid, PREDECESSOR_GONE);
      this.message = "starting";
    }
  }

  get isStarted(): boolean {
    return this.phase !== "Pending";
  }

  start(): void {
    try {
      makePodFolders(this.spec, { directory: this.directory, volumes: this.#paths.volumes, accounts: this.#accounts });
    } catch (error) {
      // A full disk, or a volume that cannot be given away: the others must go on.
      this.#ended(`could not be started: ${(error as Error).message}`);
      return;
    }
    const [program, ...args] = commandOf(fileOf(this.spec), this.spec.account?.account, this.#accounts?.means);
    const log = openLog(this.#paths.logs, this.name);
    try {
      this.#child = spawn(program, args, {
        cwd: repositoryRoot,
        env: podEnvironment(this.spec, {
          directory: this.directory,
          marker: `${this.#paths.id}/${this.name}`,
          compiled: this.#paths.compiled,
          waits: this.hasPredecessor,
        }),
        // A session of its own: no terminal's Ctrl-C reaches it, and it outlives the supervisor.
        detached: true,
        stdio: ["ignore", log, log],
      });
    } finally {
      closeSync(log);
    }
    this.#child.once("error", (error) => this.#ended(`could not be started: ${error.message}`));
    this.#child.once("exit", (code, signal) => this.#ended(describeEnd(code, signal), code === 0));
    this.pid = this.#child.pid;
    this.#startedAt = this.pid === undefined ? undefined : readStat(this.pid)?.startedAt;
    this.#watch("starting");
  }

  /** Takes over a process that an earlier supervisor started. */
  adopt(pid: number, startedAt: string): void {
    this.pid = pid;
    this.#startedAt = startedAt;
    this.#watch("adopted");
    const poll = () => {
      if (isRunning(pid, startedAt)) {
        this.#timer = setTimeout(poll, ADOPTED_POLL_MS);
      } else {
        this.#ended("ended");
      }
    };
    this.#timer = setTimeout(poll, ADOPTED_POLL_MS);
  }

  #watch(message: string): void {
    this.phase = "Running";
    this.message = message;
    if (this.spec.workload.kind === "service") {
      this.#probes = startProbes(this.spec.workload, this.directory, {
        onReady: (ready, reason) => {
          if (ready && !this.#sealSockets()) {
            return;
          }
          this.ready = ready;
          this.message = ready ? undefined : reason;
          if (ready) {
            this.#backOff.reportReady();
          }
          this.#onChange();
        },
        onDead: (reason) => {
          this.message = `restarted: ${reason}`;
          this.#kill();
        },
      });
    }
    this.#onChange();
  }

  /** Whether the folder of its sockets can be trusted from here on; a pod that put something else there is killed. */
  #sealSockets(): boolean {
    const account = this.spec.account?.account;
    if (account === undefined || this.#accounts === undefined) {
      return true;
    }
    try {
      sealSockets(this.directory, account);
      return true;
    } catch (error) {
      this.message = `restarted: ${(error as Error).message}`;
      this.#kill();
      return false;
    }
  }

  #ended(how: string, well = false): void {
    this.#probes?.stop();
    clearTimeout(this.#timer);
    this.ready = false;
    this.#child = undefined;
    this.pid = undefined;
    this.#startedAt = undefined;
    // What it left behind would hold sockets, locks and shared memory against its successor.
    const left = signalPod(this.#paths.id, this.name, "SIGKILL");
    if (this.stopping) {
      this.#finish();
    } else if (well && this.spec.workload.kind === "task") {
      this.phase = "Completed";
      this.message = undefined;
      this.#onChange();
    } else {
      const delay = Math.max(this.#backOff.next(), left > 0 ? 50 : 0);
      this.restarts += 1;
      this.phase = this.#backOff.failures > 1 ? "CrashLoopBackOff" : "Running";
      const last = readLastLine(logFile(this.#paths.logs, this.name));
      this.message = last === undefined ? how : `${how}: ${last}`;
      this.#timer = setTimeout(() => this.start(), delay);
      this.#onChange();
    }
  }

  /** Kills and starts it again. */
  restart(): void {
    if (this.pid === undefined) {
      clearTimeout(this.#timer);
      this.start();
    } else {
      this.#backOff.reset();
      const { workload } = this.spec;
      signalProcess(this.pid, workload.stopSignal ?? (drains(workload) ? "SIGINT" : "SIGTERM"));
      const { pid } = this;
      setTimeout(() => {
        if (this.pid === pid) {
          this.#kill();
        }
      }, this.#stopMilliseconds).unref();
    }
  }

  /**
   * Asks it to stop, kills what does not, and resolves when nothing of it is left.
   * @param isReplaced whether its successor takes requests already: then it answers those that are still sent to it
   */
  stop({ isReplaced = false } = {}): Promise<void> {
    return new Promise((resolve) => {
      if (this.gone) {
        resolve();
        return;
      }
      this.#stopped.push(resolve);
      if (this.stopping) {
        return;
      }
      this.stopping = true;
      this.#probes?.stop();
      this.ready = false;
      if (this.pid === undefined) {
        clearTimeout(this.#timer);
        this.#finish();
        return;
      }
      this.phase = "Terminating";
      const { workload } = this.spec;
      const signal = drains(workload) && !isReplaced ? "SIGINT" : "SIGTERM";
      signalProcess(this.pid, workload.stopSignal ?? signal);
      const deadline = setTimeout(() => this.#kill(), this.#stopMilliseconds);
      this.#stopped.push(() => clearTimeout(deadline));
      this.#onChange();
    });
  }

  signal(signal: NodeJS.Signals): void {
    if (this.pid !== undefined) {
      signalProcess(this.pid, signal);
    }
  }

  /** Stops watching and leaves the process to the next supervisor. */
  release(): void {
    this.#probes?.stop();
    clearTimeout(this.#timer);
    this.#child?.removeAllListeners();
    this.#child?.unref();
  }

  get #stopMilliseconds(): number {
    return (this.spec.workload.stopSeconds ?? 30) * 1000;
  }

  #kill(): void {
    signalPod(this.#paths.id, this.name, "SIGKILL");
  }

  #finish(): void {
    if (findMarkedProcesses(this.#paths.id).some(({ pod }) => pod === this.name)) {
      this.#kill();
      setTimeout(() => this.#finish(), 20);
      return;
    }
    rmSync(this.directory, { recursive: true, force: true });
    this.gone = true;
    this.#onChange();
    for (const resolve of this.#stopped.splice(0)) {
      resolve();
    }
  }
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `ended with status ${code}` : `was killed by ${signal}`;
}

/** Old bundles are removed some day; the sources are there. */
function fileOf({ program, bundle }: LaunchSpec): string {
  return bundle !== undefined && existsSync(bundle) ? bundle : join(repositoryRoot, program);
}
