import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, backup } from "node:sqlite";

import { syncDirectory } from "../sync-directory.ts";

/** Files that are cloned at once: requests need the threads that do it, too. */
const CONCURRENCY = 2;

/** Copies the index as of one moment, while it is in use, into one file that goes on with a journal of its own. */
export async function copyIndex(from: string, to: string): Promise<void> {
  const index = new DatabaseSync(from, { readOnly: true });
  try {
    // All pages in one step: the copy is of one moment.
    await backup(index, to, { rate: 1 << 30 });
  } finally {
    index.close();
  }
  const copy = new DatabaseSync(to);
  copy.exec("pragma journal_mode = delete");
  if (copy.prepare("select 1 from sqlite_schema where name = 'journal'").get() !== undefined) {
    copy.exec("update journal set id = ''");
  }
  copy.close();
  const file = await open(to, "r");
  await file.sync();
  await file.close();
}

/**
 * Gives every content file that the index of `target` refers to a name below `target`, by `clone`, and forces the names to the disk. Gives
 * the ids of files that `source` does not have.
 */
export async function cloneContent(
  source: string,
  target: string,
  clone: (from: string, to: string) => Promise<void>,
): Promise<readonly string[]> {
  const missing: string[] = [];
  const hours = new Map<string, Promise<unknown>>();
  await mkdir(join(target, "content"), { recursive: true, mode: 0o700 });
  const ids = listContent(join(target, "index.db"));
  const cloneNext = async () => {
    for (let next = ids.next(); next.done !== true; next = ids.next()) {
      const [hour = "", name = ""] = next.value.split("-");
      const folder = join(target, "content", hour);
      const made = hours.get(hour) ?? mkdir(folder, { mode: 0o700 });
      hours.set(hour, made);
      await made;
      try {
        await clone(join(source, "content", hour, name), join(folder, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
          throw error;
        }
        missing.push(next.value);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, cloneNext));
  for (const hour of hours.keys()) {
    await syncDirectory(join(target, "content", hour));
  }
  await syncDirectory(join(target, "content"));
  return missing;
}

function* listContent(index: string): Generator<string, void> {
  const database = new DatabaseSync(index, { readOnly: true });
  try {
    for (const { id } of database.prepare("select id from files where garbage = 0").iterate()) {
      yield String(id);
    }
  } finally {
    database.close();
  }
}
