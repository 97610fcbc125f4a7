import { readFileSync } from "node:fs";

/** Bytes of a process's memory; pages shared with other processes count in part. @throws {Error} when it is gone */
export function readPss(pid: number | string): number {
  const kibibytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
  return Number(kibibytes) * 1024;
}
