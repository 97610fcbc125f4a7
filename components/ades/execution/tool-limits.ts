import { CwlError, type JobSpec } from "@swath/cwl";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * What one tool on this machine may use, beside memory and time, which the engine watches. The kernel holds the limit of processes where
 * the service is not root, whose processes it does not count; `watchProcesses` holds it anywhere.
 */
export interface ToolLimits {
  readonly processes: number;
  readonly openFiles: number;
  /** Of one file. */
  readonly fileBytes: number;
}

/** Milliseconds between looks; the first come sooner. */
const LOOK_AGAIN_MS = 250;
const FIRST_LOOK_MS = 50;

interface ProcessWatch {
  /** The tool's first process writes its number here. */
  readonly pidFile: string;
  /** Aborted by the caller's signal, and when the limit is exceeded. */
  readonly signal: AbortSignal;
  /** What was exceeded, if anything. */
  readonly exceeded: () => CwlError | undefined;
  /** What all its processes used, as far as it was seen. */
  readonly usage: () => { readonly cpuSeconds?: number; readonly peakMemoryBytes?: number };
  readonly stop: () => void;
}

/** Counts the processes of a tool and ends it when there are more than it may have. */
export function watchProcesses(
  { id, name }: JobSpec,
  { folder, limits }: { readonly folder: string; readonly limits: ToolLimits },
  outer: AbortSignal,
): ProcessWatch {
  const place = join(folder, "watch");
  mkdirSync(place, { recursive: true });
  const pidFile = join(place, id.replaceAll("/", "_"));
  const own = new AbortController();
  let wrong: CwlError | undefined;
  let timer: NodeJS.Timeout;
  let pid: number | undefined;
  let usage: Usage = { ended: new Map(), peakMemoryBytes: 0 };
  const look = () => {
    pid ??= readPid(pidFile);
    const family = pid === undefined ? [] : listDescendants(pid, limits.processes);
    const count = family.length;
    usage = addSample(usage, family);
    if (count > limits.processes) {
      wrong = new CwlError(
        "process-failed",
        `${name}: it started more than ${limits.processes} processes and was stopped (the operator's limit of processes)`,
      );
      own.abort(wrong);
      return;
    }
    timer = setTimeout(look, LOOK_AGAIN_MS);
  };
  timer = setTimeout(look, FIRST_LOOK_MS);
  return {
    pidFile,
    signal: AbortSignal.any([outer, own.signal]),
    exceeded: () => wrong,
    usage: () => {
      const ticks = [...usage.ended.values()].reduce((sum, each) => sum + each, 0);
      return {
        ...(ticks > 0 && { cpuSeconds: ticks / TICKS_PER_SECOND }),
        ...(usage.peakMemoryBytes > 0 && { peakMemoryBytes: usage.peakMemoryBytes }),
      };
    },
    stop: () => {
      clearTimeout(timer);
      rmSync(pidFile, { force: true });
      rmSync(`${pidFile}.mounts`, { force: true });
    },
  };
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    return pid > 0 ? pid : undefined;
  } catch {
    // It is not written yet, or the tool has ended.
    return undefined;
  }
}

/** Linux counts processor time in hundredths of a second, and memory in pages. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

interface Usage {
  /** The last that was seen of each process's own processor time. */
  readonly ended: Map<number, number>;
  readonly peakMemoryBytes: number;
}

function addSample({ ended, peakMemoryBytes }: Usage, family: readonly number[]): Usage {
  let memory = 0;
  for (const pid of family) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      ended.set(pid, Number(fields[11]) + Number(fields[12]));
      memory += Number(fields[21]) * PAGE_BYTES;
    } catch {
      // Ended since it was listed.
    }
  }
  return { ended, peakMemoryBytes: Math.max(peakMemoryBytes, memory) };
}

/** Processes below one, listed until there are more than enough. */
function listDescendants(pid: number, enough: number): readonly number[] {
  const found: number[] = [];
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined && found.length <= enough; next = waiting.pop()) {
    const children = childrenOf(next);
    found.push(...children);
    waiting.push(...children);
  }
  return found;
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
