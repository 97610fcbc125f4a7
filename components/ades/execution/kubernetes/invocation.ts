import type { JobSpec } from "@swath/cwl";
import { createHash, type Hash } from "node:crypto";
import { lstatSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Contents of larger files do not count: the engine writes none of its own, they are inputs and have a path. */
const SMALL = 256 * 1024;

/**
 * Names what a command would do: two with the same digest read the same and write the same, whatever their directories are
 * called. `undefined` where a command changes files in place, which must not be taken for another one's work.
 */
export function digestOf(job: JobSpec, image: string): string | undefined {
  if (job.mounts.some(({ writable }) => writable)) {
    return undefined;
  }
  const stage = `${job.outdir.host}.stage`;
  const hash = createHash("sha256");
  const inOutdir = (path: string | undefined) => path?.replace(`${job.outdir.host}/`, "outdir:");
  add(hash, [
    image,
    job.command,
    Object.entries(job.environment).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [job.outdir.seen, job.tmpdir.seen, inOutdir(job.stdin), inOutdir(job.stdout), inOutdir(job.stderr)],
    [job.network, job.cores, job.ramMiB, job.timeLimitSeconds],
  ]);
  for (const { source, target } of job.mounts.toSorted((a, b) => (a.target < b.target ? -1 : 1))) {
    add(hash, target);
    if (source.startsWith(`${stage}/`)) {
      addTree(hash, source);
    } else {
      add(hash, source);
    }
  }
  addTree(hash, job.outdir.host);
  return hash.digest("hex");
}

function add(hash: Hash, value: unknown): void {
  hash.update(`${JSON.stringify(value)}\n`);
}

function addTree(hash: Hash, path: string): void {
  const info = lstatSync(path);
  if (info.isDirectory()) {
    for (const name of readdirSync(path).toSorted()) {
      add(hash, name);
      addTree(hash, join(path, name));
    }
    hash.update("end\n");
  } else if (info.isSymbolicLink()) {
    add(hash, ["link", readlinkSync(path)]);
  } else {
    add(hash, ["file", info.size]);
    if (info.size <= SMALL) {
      hash.update(readFileSync(path));
    }
  }
}
