import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { CommandError } from "../commands/command.ts";

/**
 * Where a file that a service names goes: below the folder, whatever the name says.
 * @throws {CommandError} for names that lead out of it
 */
export function placeWithin(folder: string, name: string): string {
  const path = normalize(name);
  if (path.includes("\0") || isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`) || path === ".") {
    throw new CommandError(`${JSON.stringify(name)} is not the name of a file in ${folder}`);
  }
  return join(folder, path);
}

/** Writes a file whole or not at all. */
export async function saveFile(path: string, content: Readable | NodeJS.ReadableStream): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}.partial`;
  try {
    await pipeline(content, createWriteStream(partial));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw new CommandError(`${path} cannot be written (${(error as Error).message})`);
  }
}
