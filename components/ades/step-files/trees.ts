import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, lstat, mkdir, opendir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";

import { runParallel } from "../staging/in/parallel.ts";
import type { FileEntry, TreeEntry } from "./documents.ts";

const PARALLEL = 8;

/** SHA-256 of a file, in hexadecimal, and how many bytes that was made of. */
export async function hashFile(path: string): Promise<{ readonly sha256: string; readonly size: number }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { sha256: hash.digest("hex"), size };
}

/**
 * Lists a directory with all that is in it, or one file. Links are listed as links, whatever they lead to; sockets and the like
 * are left out.
 * @param addFile makes the entry's blob, and says what it is
 */
export async function readTree(
  root: string,
  signal: AbortSignal,
  addFile: (path: string) => Promise<{ readonly sha256: string; readonly size: number }>,
): Promise<readonly TreeEntry[]> {
  const found: (Exclude<TreeEntry, FileEntry> | { type: "file"; path: string; mode: number })[] = [];
  const visit = async (path: string): Promise<void> => {
    signal.throwIfAborted();
    const info = await lstat(join(root, path));
    if (info.isDirectory()) {
      found.push({ type: "directory", path, mode: info.mode & 0o777 });
      const names: string[] = [];
      for await (const { name } of await opendir(join(root, path))) {
        names.push(name);
      }
      for (const name of names.sort()) {
        await visit(path === "" ? name : `${path}/${name}`);
      }
    } else if (info.isSymbolicLink()) {
      found.push({ type: "link", path, target: await readlink(join(root, path)) });
    } else if (info.isFile()) {
      found.push({ type: "file", path, mode: info.mode & 0o777 });
    }
  };
  await visit("");
  const entries: TreeEntry[] = [];
  await runParallel([...found.entries()], PARALLEL, signal, async ([index, entry]) => {
    entries[index] = entry.type === "file" ? { ...entry, ...(await addFile(join(root, entry.path))) } : entry;
  });
  return entries;
}

/**
 * Makes a tree where nothing is yet. Links come last, so that nothing is written through one of them.
 * @param fetchFile writes the bytes of a file that is not there yet
 */
export async function writeTree(
  root: string,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
  fetchFile: (entry: FileEntry, path: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const directories = entries.filter((entry) => entry.type === "directory");
  for (const { path } of directories) {
    await mkdir(join(root, path), { recursive: path === "", mode: 0o700 });
  }
  const files = entries.filter((entry) => entry.type === "file");
  await runParallel(files, PARALLEL, signal, async (entry, both) => {
    await fetchFile(entry, join(root, entry.path), both);
    await chmod(join(root, entry.path), entry.mode | 0o400);
  });
  // Before there is a link that chmod would follow, inner ones first.
  for (const { path, mode } of directories.toReversed()) {
    await chmod(join(root, path), mode | 0o700);
  }
  for (const entry of entries) {
    if (entry.type === "link") {
      await symlink(entry.target, join(root, entry.path));
    }
  }
}
