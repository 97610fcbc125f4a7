import { chmodSync, constants, copyFileSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { copyFile, link } from "node:fs/promises";
import { join } from "node:path";

/** Copies a file; shares its blocks where the file system can (reflink), which is as fast as a link and as safe as a copy. */
export async function copyOrReflink(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_FICLONE);
}

/** A hard link where both ends are on one file system, a copy otherwise. For files that nobody will write to again. */
export async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch {
    await copyOrReflink(source, target);
  }
}

/** Copies a directory tree. Symbolic links and special files are left out: links were resolved before, or lead elsewhere. */
export async function copyTree(
  source: string,
  target: string,
  copy: (source: string, target: string) => Promise<void> = copyOrReflink,
): Promise<void> {
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) {
      await copyTree(from, to, copy);
    } else if (entry.isFile()) {
      await copy(from, to);
    }
  }
}

/** Copies a tree for a tool that will change it: links inside it that stay inside are followed, others left out. */
export function copyWritable(source: string, target: string): void {
  if (lstatSync(source).isDirectory()) {
    mkdirSync(target, { recursive: true });
    for (const entry of readdirSync(source, { withFileTypes: true })) {
      if (entry.isDirectory() || entry.isFile()) {
        copyWritable(join(source, entry.name), join(target, entry.name));
      }
    }
  } else {
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
    // A copy of a read-only file is read-only, and in a container even root may not write to that.
    chmodSync(target, statSync(target).mode | 0o200);
  }
}

export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") {
      throw error;
    }
    // A tool made a directory read-only, or unpacked one: its entries cannot be removed until its owner may write to it.
    makeWritable(path);
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Directories below and including `path`; links are not followed. */
function makeWritable(path: string): void {
  if (!lstatSync(path).isDirectory()) {
    return;
  }
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      makeWritable(join(path, entry.name));
    }
  }
}
