import { readFileSync, readdirSync } from "node:fs";

/** A process that belongs to a pod, found by the marker in its environment. */
export interface MarkedProcess {
  readonly pid: number;
  readonly parent: number;
  /** Clock ticks since boot when it started: together with the pid it names one process for ever. */
  readonly startedAt: string;
  readonly pod: string;
}

/** Environment variable that every process of a pod inherits: `<cluster id>/<pod name>`. */
export const POD_MARKER = "SWATH_POD";

/** Every process of this cluster's pods, whoever started it and whatever became of its parent. */
export function findMarkedProcesses(clusterId: string): readonly MarkedProcess[] {
  const prefix = `${POD_MARKER}=${clusterId}/`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const environment = readProcFile(`/proc/${name}/environ`);
      const marker = environment?.split("\0").find((entry) => entry.startsWith(prefix));
      const stat = marker === undefined ? undefined : readStat(Number(name));
      return marker === undefined || stat === undefined
        ? []
        : [{ pid: Number(name), parent: stat.parent, startedAt: stat.startedAt, pod: marker.slice(prefix.length) }];
    });
}

/** The process that the others of a pod descend from. */
export function findMainProcess(processes: readonly MarkedProcess[]): MarkedProcess | undefined {
  const pids = new Set(processes.map(({ pid }) => pid));
  return processes.find(({ parent }) => !pids.has(parent));
}

/** True while exactly this process runs; a zombie does not. */
export function isRunning(pid: number, startedAt: string): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.startedAt === startedAt && stat.state !== "Z";
}

export function readStat(pid: number): { state: string; parent: number; startedAt: string } | undefined {
  const text = readProcFile(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses and may hold anything.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, parent] = fields ?? [];
  const startedAt = fields?.[19];
  return state === undefined || parent === undefined || startedAt === undefined
    ? undefined
    : { state, parent: Number(parent), startedAt };
}

/** Sends a signal to every process of a pod; those that are gone already do not matter. */
export function signalPod(clusterId: string, pod: string, signal: NodeJS.Signals): number {
  const targets = findMarkedProcesses(clusterId).filter((candidate) => candidate.pod === pod);
  for (const { pid } of targets) {
    signalProcess(pid, signal);
  }
  return targets.length;
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") {
      throw error;
    }
  }
}

function readProcFile(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Gone meanwhile, or of another user: not ours either way.
    return undefined;
  }
}
