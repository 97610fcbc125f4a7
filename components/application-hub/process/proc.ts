import { readFileSync, statfsSync } from "node:fs";

/** A process of this machine, once and for ever: numbers come again, start times with them do not. */
export interface ProcessId {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly startedAt: string;
}

/** Linux counts processor time in hundredths of a second, and memory in pages. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;
const MAX_PROCESSES = 20_000;

interface Stat {
  readonly state: string;
  readonly cpuTicks: number;
  readonly startedAt: string;
  readonly residentPages: number;
}

export function findProcess(pid: number): ProcessId | undefined {
  const stat = readStat(pid);
  return stat === undefined ? undefined : { pid, startedAt: stat.startedAt };
}

/** True while exactly this process runs; a zombie does not. */
export function isRunning({ pid, startedAt }: ProcessId): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.startedAt === startedAt && stat.state !== "Z";
}

/** Processes below one, itself left out. */
export function listDescendants(pid: number): readonly number[] {
  const found: number[] = [];
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined && found.length < MAX_PROCESSES; next = waiting.pop()) {
    const children = read(`/proc/${next}/task/${next}/children`)?.split(" ").filter(Boolean).map(Number) ?? [];
    found.push(...children);
    waiting.push(...children);
  }
  return found;
}

/** What all processes below one use, and it itself `withFirst`; those that the platform itself brings are left out. */
export function measureTree(
  pid: number,
  isOurs: (command: string) => boolean,
  withFirst = false,
): { readonly cpuSeconds: number; readonly memoryBytes: number; readonly processes: number } {
  let ticks = 0;
  let pages = 0;
  let processes = 0;
  let isOwnFound = false;
  for (const each of [...(withFirst ? [pid] : []), ...listDescendants(pid)]) {
    // One of them, near the top: the others need not be asked.
    if (!isOwnFound && isOurs(readCommand(each))) {
      isOwnFound = true;
      continue;
    }
    processes += 1;
    const stat = readStat(each);
    ticks += stat?.cpuTicks ?? 0;
    pages += stat?.residentPages ?? 0;
  }
  return { cpuSeconds: ticks / TICKS_PER_SECOND, memoryBytes: pages * PAGE_BYTES, processes };
}

/** Memory that files of a sandbox take: those in its `/tmp` and what its programs share. */
export function measureScratch(pid: number, isOurs: (command: string) => boolean): number {
  const inside = listDescendants(pid).find((each) => isOurs(readCommand(each)));
  const sizes = (inside === undefined ? [] : ["tmp", "var/tmp", "dev/shm"]).map((name) => {
    try {
      const { blocks, bfree, bsize } = statfsSync(`/proc/${inside}/root/${name}`);
      return (blocks - bfree) * bsize;
    } catch {
      // Ended meanwhile.
      return 0;
    }
  });
  return sizes.reduce((sum, each) => sum + each, 0);
}

/** Its command and arguments, each ended by a NUL; nothing where it has ended. */
export const readCommand = (pid: number): string => read(`/proc/${pid}/cmdline`) ?? "";

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") {
      throw error;
    }
  }
}

function readStat(pid: number): Stat | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) {
    return undefined;
  }
  // The second field is the program's name in parentheses and may hold anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const at = (index: number) => Number(fields[index]);
  return {
    state: fields[0] ?? "",
    // Ended children count as well.
    cpuTicks: at(11) + at(12) + at(13) + at(14),
    startedAt: fields[19] ?? "",
    residentPages: at(21),
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // Ended meanwhile.
    return undefined;
  }
}
