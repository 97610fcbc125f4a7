import { link, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync, backup } from "node:sqlite";

const ATTEMPTS = 5;

/**
 * Makes a copy of the store that stays as it is while the store goes on: the index as of one moment, and a second name
 * for every content file that it refers to. Content files never change, so nothing but the index is copied.
 * Runs beside the service. Gives the copy's folder, which lies in the store's own and is the caller's to remove, and the ids of
 * content files that the store has lost.
 * @throws {Error} when content keeps going away while it is being linked
 */
export async function makeSnapshot(directory: string): Promise<{ snapshot: string; missing: readonly string[] }> {
  const snapshot = join(directory, ".snapshot");
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    // One that was interrupted before is of no use.
    await rm(snapshot, { recursive: true, force: true });
    await mkdir(snapshot, { mode: 0o700 });
    await copyIndex(join(directory, "index.db"), join(snapshot, "index.db"));
    const missing = await linkContent(directory, snapshot);
    if (missing.every((id) => isKnown(directory, id))) {
      // The store believes to have them: lost on the disk long ago, which its scrub reports and no copy can mend.
      return { snapshot, missing };
    }
  }
  await rm(snapshot, { recursive: true, force: true });
  throw new Error(`content was deleted during each of ${ATTEMPTS} attempts to keep it; try again when less is deleted`);
}

async function copyIndex(from: string, to: string): Promise<void> {
  const index = new DatabaseSync(from, { readOnly: true });
  try {
    // All pages in one step: the copy is of one moment.
    await backup(index, to, { rate: 1 << 30 });
  } finally {
    index.close();
  }
  const copy = new DatabaseSync(to);
  // It goes on with a journal of its own. One file, without a log, is what is packed.
  copy.exec("pragma journal_mode = delete");
  if (copy.prepare("select 1 from sqlite_schema where name = 'journal'").get() !== undefined) {
    copy.exec("update journal set id = ''");
  }
  copy.close();
}

/** Ids of the files that are not there. */
async function linkContent(directory: string, snapshot: string): Promise<readonly string[]> {
  const missing: string[] = [];
  const made = new Set<string>();
  for (const id of listContent(join(snapshot, "index.db"))) {
    const [hour = "", name = ""] = id.split("-");
    const to = join(snapshot, "content", hour, name);
    if (!made.has(hour)) {
      made.add(hour);
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    }
    try {
      await link(join(directory, "content", hour, name), to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
        throw error;
      }
      missing.push(id);
    }
  }
  return missing;
}

function* listContent(index: string): Generator<string> {
  const database = new DatabaseSync(index, { readOnly: true });
  try {
    for (const { id } of database.prepare("select id from files where garbage = 0").iterate()) {
      yield String(id);
    }
  } finally {
    database.close();
  }
}

/** Whether the store's index refers to a file now. */
function isKnown(directory: string, id: string): boolean {
  const database = new DatabaseSync(join(directory, "index.db"), { readOnly: true });
  try {
    return database.prepare("select 1 from files where id = ? and garbage = 0").get(id) !== undefined;
  } finally {
    database.close();
  }
}
