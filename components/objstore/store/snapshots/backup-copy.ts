import { link, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { cloneContent, copyIndex } from "./copy-store.ts";

const ATTEMPTS = 5;

/**
 * Makes a copy of the store that stays as it is while the store goes on: the index as of one moment, and a second name
 * for every content file that it refers to. Content files never change, so nothing but the index is copied.
 * Runs beside the service. Gives the copy's folder, which lies in the store's own and is the caller's to remove, and the ids of
 * content files that the store has lost.
 * @throws {Error} when content keeps going away while it is being linked
 */
export async function makeBackupCopy(directory: string): Promise<{ copy: string; missing: readonly string[] }> {
  const copy = join(directory, ".snapshot");
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    // One that was interrupted before is of no use.
    await rm(copy, { recursive: true, force: true });
    await mkdir(copy, { mode: 0o700 });
    await copyIndex(join(directory, "index.db"), join(copy, "index.db"));
    const missing = await cloneContent(directory, copy, link);
    if (missing.every((id) => isKnown(directory, id))) {
      // The store believes to have them: lost on the disk long ago, which its scrub reports and no copy can mend.
      return { copy, missing };
    }
  }
  await rm(copy, { recursive: true, force: true });
  throw new Error(`content was deleted during each of ${ATTEMPTS} attempts to keep it; try again when less is deleted`);
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
