import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

import { localPath } from "../inputs/files.ts";
import { type FileOrDirectory, isDirectory, isFile, isObject } from "../model/values.ts";

/** Sizes of directories of one run. A directory that many steps are given is measured once: inputs do not change while a run lasts. */
export type DirectorySizes = Map<string, Promise<number>>;

/** Bytes of the files that are in a value: their own, of secondary files, and of all below directories. Links are not followed. */
export async function measureValue(value: unknown, sizes: DirectorySizes): Promise<number> {
  if (isFile(value)) {
    const own = value.size ?? (await sizeOfFile(value));
    return own + (await measureAll(value.secondaryFiles ?? [], sizes));
  }
  if (isDirectory(value)) {
    const path = localPath(value);
    if (path === undefined) {
      return await measureAll(value.listing ?? [], sizes);
    }
    const known = sizes.get(path) ?? measureDirectory(path);
    sizes.set(path, known);
    return await known;
  }
  if (Array.isArray(value)) {
    return await measureAll(value, sizes);
  }
  return isObject(value) ? await measureAll(Object.values(value), sizes) : 0;
}

async function measureAll(values: readonly unknown[], sizes: DirectorySizes): Promise<number> {
  let bytes = 0;
  for (const value of values) {
    bytes += await measureValue(value, sizes);
  }
  return bytes;
}

async function sizeOfFile(item: FileOrDirectory): Promise<number> {
  const path = localPath(item);
  return path === undefined ? 0 : ((await lstat(path).catch(() => undefined))?.size ?? 0);
}

async function measureDirectory(path: string): Promise<number> {
  let bytes = 0;
  // A directory that cannot be read any more counts nothing: its size is not worth failing a step.
  for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) {
      bytes += await measureDirectory(inner);
    } else if (entry.isFile()) {
      bytes += (await lstat(inner).catch(() => undefined))?.size ?? 0;
    }
  }
  return bytes;
}
