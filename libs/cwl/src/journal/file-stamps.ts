import { lstatSync, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { localPath } from "../inputs/files.ts";
import type { FileOrDirectory, Value } from "../model/values.ts";
import { filesIn } from "../model/values.ts";

/** Path, size in bytes and time of the last change in nanoseconds (as text: a double cannot hold it). */
export type FileStamp = readonly [path: string, size: number, changed: string];

/** Stamps of every file that a value names, with all that lies below its directories. Throws when one is not there. */
export function stampFiles(value: Value): FileStamp[] {
  const stamps = new Map<string, FileStamp>();
  const add = (item: FileOrDirectory): void => {
    const path = localPath(item);
    if (path !== undefined) {
      stampTree(path, stamps);
    }
    const inner = item.class === "File" ? item.secondaryFiles : path === undefined ? item.listing : undefined;
    for (const entry of inner ?? []) {
      add(entry);
    }
  };
  for (const item of filesIn(value)) {
    add(item);
  }
  return [...stamps.values()];
}

function stampTree(path: string, stamps: Map<string, FileStamp>): void {
  if (stamps.has(path)) {
    return;
  }
  const info = lstatSync(path, { bigint: true });
  // The size of a directory is the file system's business.
  const size = info.isDirectory() ? 0 : Number(info.size);
  stamps.set(path, [path, size, String(info.mtimeNs)]);
  if (info.isDirectory()) {
    for (const name of readdirSync(path)) {
      stampTree(join(path, name), stamps);
    }
  }
}

/** Whether a file is as it was when it was stamped. */
export function isIntact([path, size, changed]: FileStamp): boolean {
  const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return info !== undefined && String(info.mtimeNs) === changed && (info.isDirectory() || Number(info.size) === size);
}

/** Most files that are written back at one time. */
const width = 16;

/** Has files and the directories that name them written to the disk, so that they outlive a loss of power. */
export async function syncPaths(paths: readonly string[]): Promise<void> {
  const all = [...new Set(paths.flatMap((path) => [path, dirname(path)]))];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < all.length) {
      const path = all[next] ?? "";
      next += 1;
      await syncPath(path);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, all.length) }, worker));
}

async function syncPath(path: string): Promise<void> {
  let handle;
  try {
    handle = await open(path, "r");
    await handle.sync();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Gone again, a link, or a file that its tool made unreadable: its stamp will tell when it matters.
    if (code !== "ENOENT" && code !== "EACCES" && code !== "EINVAL" && code !== "ELOOP") {
      throw error;
    }
  } finally {
    await handle?.close();
  }
}
