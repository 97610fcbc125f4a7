import { closeSync, copyFileSync, ftruncateSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** A log file is turned over at this size; two older ones are kept. */
const ROTATE_AT_BYTES = 10 * 1024 * 1024;
/** Logs of replaced pods that are kept for each workload. */
const KEPT_PODS = 3;

export function logFile(directory: string, pod: string): string {
  return join(directory, `${pod}.log`);
}

/** Opens a pod's log for appending; nothing is lost when several processes write. */
export function openLog(directory: string, pod: string): number {
  return openSync(logFile(directory, pod), "a", 0o600);
}

/**
 * Turns over logs that have grown. Pods write to the file themselves (so that they outlive a supervisor), hence the copy:
 * what is written between copying and cutting is lost, a line or two in ten megabytes.
 */
export function rotateLogs(directory: string): void {
  for (const name of readdirSync(directory).filter((file) => file.endsWith(".log"))) {
    const file = join(directory, name);
    if (statSync(file).size > ROTATE_AT_BYTES) {
      try {
        renameIfThere(`${file}.1`, `${file}.2`);
        copyFileSync(file, `${file}.1`);
      } finally {
        // Also when there is no room for the copy: a full disk is the moment to let go of old lines.
        const descriptor = openSync(file, "r+");
        ftruncateSync(descriptor);
        closeSync(descriptor);
      }
    }
  }
}

/** Removes logs of pods that are long gone; `alive` are the pods there are. */
export function removeOldLogs(directory: string, alive: ReadonlySet<string>): void {
  const byWorkload = new Map<string, string[]>();
  for (const name of readdirSync(directory)) {
    const pod = /^(.+)\.log$/.exec(name)?.[1];
    if (pod !== undefined && !alive.has(pod) && pod.includes("-")) {
      const workload = pod.slice(0, pod.lastIndexOf("-"));
      byWorkload.set(workload, [...(byWorkload.get(workload) ?? []), pod]);
    }
  }
  for (const pods of byWorkload.values()) {
    const oldestFirst = pods.sort(
      (a, b) => statSync(logFile(directory, a)).mtimeMs - statSync(logFile(directory, b)).mtimeMs,
    );
    for (const pod of oldestFirst.slice(0, Math.max(0, oldestFirst.length - KEPT_PODS))) {
      for (const suffix of ["", ".1", ".2"]) {
        rmSync(`${logFile(directory, pod)}${suffix}`, { force: true });
      }
    }
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw error;
    }
  }
}
