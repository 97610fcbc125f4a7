// Runs test files, a process each, as many at once as the processors have time for.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, cpus, totalmem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Memory of a test file at its most: a whole platform, and a browser before it. */
const FILE_BYTES = 4 * 1024 ** 3;
const MAX_FILES_AT_ONCE = 4;
/** Files at once while processors are idle: many wait for what they killed, or for a lease to end. */
const MAX_FILES_WHILE_IDLE = 6;
/** Part of the processors' time that must be unused before one more file starts. */
const IDLE_SHARE = 0.25;
/** Milliseconds over which that is measured: a file that has just started loads its code meanwhile. */
const MEASURED_MS = 5000;

/** What one file printed, and whether it passed. */
export interface FileResult {
  readonly file: string;
  readonly passed: boolean;
  readonly output: string;
  readonly seconds: number;
}

/** Runs the files in their order. `start` makes the process of one; results come as files end. */
export async function* runFiles(
  files: readonly string[],
  start: (file: string) => ChildProcess,
  isStopped: () => boolean,
): AsyncGenerator<FileResult> {
  const waiting = [...files];
  const running = new Map<string, Promise<FileResult>>();
  const readIdleShare = createIdleMeter();
  while (running.size > 0 || (waiting.length > 0 && !isStopped())) {
    if (waiting.length > 0 && !isStopped() && mayStart(running.size, readIdleShare)) {
      const file = waiting.shift() as string;
      running.set(file, runFile(file, start));
      continue;
    }
    const ended = await Promise.race([...running.values(), sleep(MEASURED_MS, undefined, { ref: false })]);
    if (ended !== undefined) {
      running.delete(ended.file);
      yield ended;
    }
  }
}

async function runFile(file: string, start: (file: string) => ChildProcess): Promise<FileResult> {
  const startedAt = performance.now();
  const child = start(file);
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  }
  const [status] = (await once(child, "close")) as [number | null];
  return {
    file,
    passed: status === 0,
    output: Buffer.concat(chunks).toString(),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

function mayStart(running: number, readIdleShare: () => number): boolean {
  const always = countFilesAtOnce();
  if (running < always) {
    return true;
  }
  return running < MAX_FILES_WHILE_IDLE && readIdleShare() > IDLE_SHARE && process.availableMemory() > FILE_BYTES;
}

/** One more than there are processors, because a file waits for a third of its time, as far as there is memory for them. */
function countFilesAtOnce(): number {
  // Zero, or more than there is, where nothing limits this process.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const most = Math.min(availableParallelism() + 1, Math.floor(memory / FILE_BYTES), MAX_FILES_AT_ONCE);
  return Math.max(2, most);
}

/** The share of unused processor time since the last reading that is old enough; 0 until there is one. */
function createIdleMeter(): () => number {
  let last = { at: performance.now(), ...readProcessorTimes() };
  return () => {
    const at = performance.now();
    if (at - last.at < MEASURED_MS) {
      return 0;
    }
    const now = readProcessorTimes();
    const share = (now.idle - last.idle) / Math.max(1, now.total - last.total);
    last = { at, ...now };
    return share;
  };
}

function readProcessorTimes(): { readonly idle: number; readonly total: number } {
  const times = cpus().map((each) => each.times);
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    total: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
  };
}
