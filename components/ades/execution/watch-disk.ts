import { CwlError, type Executor } from "@swath/cwl";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

/** Milliseconds between looks at least; a look that takes longer is followed by a longer pause. */
const LOOK_AGAIN_MS = 500;
/** A look is a tenth of the time at most. */
const PAUSE_RATIO = 9;

interface DiskWatch {
  readonly signal: AbortSignal;
  /** What was exceeded, if anything. */
  readonly exceeded: () => CwlError | undefined;
  readonly stop: () => void;
}

/** Measures a job's folder while its tools run, and ends them when it is larger than it may be. */
export function watchDisk(folder: string, maxMiB: number, outer: AbortSignal): DiskWatch {
  return watchFolder(folder, maxMiB, outer, () => diskError(maxMiB));
}

function diskError(maxMiB: number): CwlError {
  return new CwlError(
    "process-failed",
    `The job used more than ${maxMiB} MiB of disk and was stopped: its inputs, scratch files and outputs together ` +
      "(the operator's limit of disk).",
  );
}

/** Holds tools to the maxima that they give for their working and scratch directory (`outdirMax`, `tmpdirMax`). */
export function limitFolders(executor: Executor): Executor {
  return {
    ...executor,
    run: async (job, controls) => {
      const limits = [
        { folder: job.outdir.host, field: "outdirMax", maxMiB: job.outdirLimitMiB },
        { folder: job.tmpdir.host, field: "tmpdirMax", maxMiB: job.tmpdirLimitMiB },
      ].flatMap(({ maxMiB, ...limit }) => (maxMiB === undefined ? [] : [{ ...limit, maxMiB }]));
      const watches: DiskWatch[] = [];
      let { signal } = controls;
      for (const { folder, field, maxMiB } of limits) {
        const watch = watchFolder(folder, maxMiB, signal, () => folderError(job.name, field, maxMiB));
        watches.push(watch);
        ({ signal } = watch);
      }
      try {
        const result = await executor.run(job, { ...controls, signal });
        // A short tool has ended before anybody looked.
        for (const { folder, field, maxMiB } of limits) {
          if ((await measure(folder, maxMiB * 2 ** 20)) > maxMiB * 2 ** 20) {
            throw folderError(job.name, field, maxMiB);
          }
        }
        return result;
      } catch (error) {
        throw watches.map((watch) => watch.exceeded()).find((wrong) => wrong !== undefined) ?? error;
      } finally {
        watches.forEach((watch) => watch.stop());
      }
    },
  };
}

function folderError(name: string, field: string, maxMiB: number): CwlError {
  const what = field === "outdirMax" ? "working directory" : "scratch directory";
  return new CwlError(
    "process-failed",
    `${name}: its ${what} held more than the ${maxMiB} MiB that it asks for (${field} of its ResourceRequirement), and it was stopped`,
  );
}

function watchFolder(folder: string, maxMiB: number, outer: AbortSignal, errorOf: () => CwlError): DiskWatch {
  const own = new AbortController();
  let wrong: CwlError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const look = async () => {
    const started = performance.now();
    const used = await measure(folder, maxMiB * 2 ** 20);
    if (used > maxMiB * 2 ** 20) {
      wrong = errorOf();
      own.abort(wrong);
      return;
    }
    if (!stopped) {
      timer = setTimeout(again, Math.max(LOOK_AGAIN_MS, (performance.now() - started) * PAUSE_RATIO));
    }
  };
  // A folder that cannot be measured now is measured again.
  const again = () => void look().catch(() => (timer = stopped ? undefined : setTimeout(again, LOOK_AGAIN_MS)));
  timer = setTimeout(again, LOOK_AGAIN_MS);
  return {
    signal: AbortSignal.any([outer, own.signal]),
    exceeded: () => wrong,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Bytes on disk below a folder; none where it is not there. */
export const measureFolder = (folder: string): Promise<number> => measure(folder, Number.MAX_SAFE_INTEGER);

/** Bytes on disk below a folder, counted until there are more than enough. Links are not followed; a file with two names counts once. */
async function measure(folder: string, enough: number): Promise<number> {
  const seen = new Set<number>();
  const waiting = [folder];
  let used = 0;
  for (let next = waiting.pop(); next !== undefined && used <= enough; next = waiting.pop()) {
    const entries = await opendir(next).catch(() => []);
    for await (const entry of entries) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) {
        waiting.push(path);
        continue;
      }
      const info = await lstat(path).catch(() => undefined);
      if (info !== undefined && (info.nlink === 1 || !seen.has(info.ino))) {
        if (info.nlink > 1) {
          seen.add(info.ino);
        }
        used += info.blocks * 512;
      }
    }
  }
  return used;
}
