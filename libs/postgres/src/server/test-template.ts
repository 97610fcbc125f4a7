import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { findBarrier } from "./account.ts";
import { type DataDirectoryOptions, prepareDataDirectory } from "./data-directory.ts";

/**
 * Copies a data directory that was made before into the folder of a test's server: `initdb` takes more than a second of processor time.
 * The template is kept below `cache` and named after the programs that made it and the account that owns it. Copies nothing where the
 * account cannot pass to `cache`.
 */
export function copyTemplate(options: DataDirectoryOptions, cache: string): void {
  const { directory, account } = options;
  mkdirSync(cache, { recursive: true });
  if (findBarrier(cache, account) !== undefined) {
    return;
  }
  const template = join(cache, `postgres-${toKey(options)}`);
  if (!existsSync(template)) {
    createTemplate(options, template);
  }
  // Keeps owners and modes, which PostgreSQL checks.
  execFileSync("cp", ["-a", "--reflink=auto", join(template, "data"), directory]);
}

/** Makes it beside its place: tests that start together find a whole one or none. */
function createTemplate(options: DataDirectoryOptions, template: string): void {
  const unfinished = `${template}.${process.pid}`;
  prepareDataDirectory({ ...options, directory: unfinished });
  try {
    renameSync(unfinished, template);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another test made it meanwhile.
    if (!existsSync(template)) {
      throw error;
    }
  }
}

function toKey({ binaries, account, superuser, password }: DataDirectoryOptions): string {
  const description = readFileSync(join(dirname(binaries.initdb), "../../package.json"), "utf8");
  return createHash("sha256")
    .update(JSON.stringify([description, account, superuser, password]))
    .digest("hex")
    .slice(0, 16);
}
