import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Environment variable that the commands of container engines inherit, however often they fork or change their session. A tool of
 * this machine is known by its HOME and its TMPDIR, which are its own: nothing of this product is in its environment.
 */
export const markerVariable = "SWATH_CWL_JOB";

interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** What to look for when processes of a job have to be found. */
export interface ProcessSearch {
  /** Values of the marker variable; an entry matches the beginning. */
  readonly marker: string;
  /** HOME or TMPDIR of the processes; one that ends with a slash means all directories below it. */
  readonly homes?: readonly string[] | undefined;
  /** The process that was started, which led its own group and session. */
  readonly leader: number | undefined;
  /** Processes working below this directory belong to the job too, whatever their environment says. */
  readonly directory: string | undefined;
  /** What was started before is nobody's of ours; saves looking at it closely. */
  readonly since?: ProcessTimestamp | undefined;
}

/** A time by which processes are told that started before it from those that started later. */
export interface ProcessTimestamp {
  /** As the system notes when a process started; 0 where it cannot be told. */
  readonly ticks: number;
  /** The number that was given to a process last; undefined where it cannot be told. */
  readonly lastPid: number | undefined;
  /** Of `performance.now()`. */
  readonly time: number;
}

/** Linux counts in hundredths of a second on every architecture we run on. */
const ticksPerSecond = 100;

/** For so long the numbers of processes cannot have gone once around. */
const roundMs = 2000;

export function now(): ProcessTimestamp {
  const time = performance.now();
  try {
    const ticks = Math.floor(Number(readFileSync("/proc/uptime", "latin1").split(" ")[0]) * ticksPerSecond) - 1;
    return { ticks, lastPid: readLastPid(), time };
  } catch {
    return { ticks: 0, lastPid: undefined, time };
  }
}

function readLastPid(): number | undefined {
  const pid = Number(readFileSync("/proc/loadavg", "latin1").trim().split(" ").at(-1));
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

/** Whether a process may have started since, by its number alone. */
function mayBeNew(since: ProcessTimestamp | undefined): (pid: number) => boolean {
  const first = since?.lastPid;
  if (since === undefined || first === undefined || performance.now() - since.time > roundMs) {
    return () => true;
  }
  const last = readLastPid() ?? first;
  return last >= first ? (pid) => pid > first && pid <= last : (pid) => pid > first || pid <= last;
}

/**
 * Ends every process of a job: asks first, and kills what is still there after `graceMs`. Looks again until nothing is
 * left, so that processes which fork while they are being killed are caught as well.
 */
export async function killTree(search: ProcessSearch, graceMs: number): Promise<void> {
  const known = new Set<number>();
  signalAll(find(search, known), "SIGTERM");
  const timeout = performance.now() + graceMs;
  while (performance.now() < timeout) {
    if (find(search, known).length === 0) {
      return;
    }
    await sleep(20);
  }
  await killAll(search, known);
}

/** Kills without asking; used for what is left over after a tool has ended. */
export async function killAll(search: ProcessSearch, known = new Set<number>()): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    const found = find(search, known);
    if (found.length === 0) {
      return;
    }
    signalAll(found, "SIGKILL");
    await sleep(round < 5 ? 2 : 20);
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It is gone already, which is what we want.
    }
  }
}

/** Whether the group of a process that we started (and that has ended) still has members. Costs one system call. */
export function groupIsAlive(leader: number): boolean {
  const { stackTraceLimit } = Error;
  // Most often it has none, and where that was asked is of no interest but costs more than the question.
  Error.stackTraceLimit = 0;
  try {
    process.kill(-leader, 0);
    return true;
  } catch {
    return false;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A process with what it has started, as far as parents, groups and sessions tell; costs no look into each process. */
export function listFamily(leader: number): number[] {
  const family = new Set([leader]);
  const all = listProcesses(undefined);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const { pid, parent, group, session } of all) {
      if (family.has(parent) || group === leader || session === leader) {
        family.add(pid);
      }
    }
  }
  return [...family];
}

/**
 * A process with what it and its descendants have started, as the kernel lists children: quick, but without those whose parent has
 * ended. Undefined where the kernel keeps no such lists.
 */
export function listDescendants(leader: number): number[] | undefined {
  const family = [leader];
  for (const pid of family) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
        family.push(...children.split(" ").filter(Boolean).map(Number));
      }
    } catch {
      if (!existsSync(`/proc/self/task/${process.pid}/children`)) {
        return undefined;
      }
      // It has ended meanwhile.
    }
  }
  return family;
}

/** Processes of a job that are alive now. `known` remembers members over rounds, so that orphans stay ours. */
function find(search: ProcessSearch, known: Set<number>): number[] {
  const all = listProcesses(search.since);
  const found = new Set<number>();
  for (const info of all) {
    if (
      known.has(info.pid) ||
      (search.leader !== undefined &&
        (info.pid === search.leader || info.group === search.leader || info.session === search.leader)) ||
      carriesMarker(info.pid, search)
    ) {
      found.add(info.pid);
    }
  }
  for (let grown = true; grown;) {
    grown = false;
    for (const info of all) {
      if (!found.has(info.pid) && found.has(info.parent)) {
        found.add(info.pid);
        grown = true;
      }
    }
  }
  found.delete(process.pid);
  for (const pid of found) {
    known.add(pid);
  }
  return [...found];
}

function carriesMarker(pid: number, search: ProcessSearch): boolean {
  if (pid === process.pid) {
    return false;
  }
  try {
    const environment = `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`;
    if (environment.includes(`\0${markerVariable}=${search.marker}`) || isAtHome(environment, search.homes ?? [])) {
      return true;
    }
    if (search.directory === undefined) {
      return false;
    }
    const directory = readlinkSync(`/proc/${pid}/cwd`);
    return directory === search.directory || directory.startsWith(`${search.directory}/`);
  } catch {
    // Gone in the meantime, or another user's: not ours either way.
    return false;
  }
}

function isAtHome(environment: string, homes: readonly string[]): boolean {
  return homes.some((home) => {
    const value = `${Buffer.from(home).toString("latin1")}${home.endsWith("/") ? "" : "\0"}`;
    return environment.includes(`\0HOME=${value}`) || environment.includes(`\0TMPDIR=${value}`);
  });
}

function listProcesses(since: ProcessTimestamp | undefined): ProcessInfo[] {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    // No /proc on this system: the process group is all there is to go by.
    return [];
  }
  const buffer = Buffer.alloc(1024);
  const isWorthALook = mayBeNew(since);
  const ticks = since?.ticks ?? 0;
  return names.flatMap((name): ProcessInfo[] => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || !isWorthALook(pid)) {
      return [];
    }
    try {
      const stat = readShort(`/proc/${name}/stat`, buffer);
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const [state, parent, group, session] = fields;
      // A zombie has ended; only its parent's wait is missing.
      return state === "Z" || state === "X" || Number(fields[19]) < ticks
        ? []
        : [{ pid, parent: Number(parent), group: Number(group), session: Number(session) }];
    } catch {
      return [];
    }
  });
}

/** The beginning of a file; in half the time that a whole one takes, which counts for hundreds of processes. */
function readShort(path: string, buffer: Buffer): string {
  const file = openSync(path, "r");
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, null));
  } finally {
    closeSync(file);
  }
}
