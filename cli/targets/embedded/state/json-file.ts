import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** A file of the cluster's state that cannot be used. Nothing is deleted or rewritten because of it. */
export class StateFileError extends Error {
  override readonly name = "StateFileError";
  readonly file: string;

  constructor(file: string, problem: string) {
    super(
      `${file} ${problem}. It was left as it is. Restore it from a backup, or remove it if you know that it is not needed ` +
        `(volumes lie beside it and are not affected).`,
    );
    this.file = file;
  }
}

/** The parsed file, or `undefined` when there is none. */
export function readJsonFile<T>(file: string): T | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return undefined;
    }
    throw new StateFileError(file, `cannot be read (${message})`);
  }
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new StateFileError(file, `is damaged: ${(error as Error).message}`);
  }
}

/** Replaces the file so that it is whole at any moment, also after a power loss; only its owner can read it. */
export function writeJsonFile(file: string, value: unknown): void {
  const unfinished = `${file}.${process.pid}.writing`;
  const descriptor = openSync(unfinished, "w", 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(value, null, 1)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(unfinished, file);
  syncDirectory(dirname(file));
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
