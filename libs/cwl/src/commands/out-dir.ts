import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CwlError, messageOf } from "../errors.ts";

const words: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    ENOTDIR: "a file is in its way",
    EACCES: "permission is denied",
    EROFS: "its file system is read-only",
  }),
);

/**
 * Makes the directory of outputs before anything runs: what cannot be put there is known before hours of work.
 * @throws {CwlError} `invalid-inputs`
 */
export function makeOutDir(path: string): void {
  const missing: string[] = [];
  let at = resolve(path);
  for (; !existsSync(at) && dirname(at) !== at; at = dirname(at)) {
    missing.unshift(at);
  }
  try {
    // One by one: Node.js 24 never returns where a file system makes none (/proc) and all are to be made at once.
    for (const directory of missing) {
      makeOne(directory);
    }
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw refuse(path, error);
  }
  if (!statSync(path).isDirectory()) {
    throw refuse(path, Object.assign(new Error(), { code: "ENOTDIR" }));
  }
}

function makeOne(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw error;
    }
  }
}

function refuse(path: string, error: unknown): CwlError {
  const why = words.get((error as NodeJS.ErrnoException).code ?? "") ?? messageOf(error);
  return new CwlError("invalid-inputs", `--outdir: nothing can be put into ${path}: ${why}`, { cause: error });
}
