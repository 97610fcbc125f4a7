import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { noCrashPoints } from "../crash-points.ts";
import { unmarkDamaged } from "../index/index-damage.ts";
import { IndexDatabase } from "../index/index-database.ts";
import { type ContentReport, rebuildFromContent } from "./rebuild-from-content.ts";
import { type JournalReport, rebuildFromJournal } from "./rebuild-from-journal.ts";
import { lockVolume } from "../volume-lock.ts";

export interface RebuildReport extends ContentReport {
  /** Folder of the old index; undefined when there was none. */
  readonly setAside: string | undefined;
  /** What the journal gave back; undefined when there is none that can be read. */
  readonly journal: JournalReport | undefined;
}

const INDEX_FILES = ["index.db", "index.db-wal", "index.db-shm"];

/**
 * Makes a new index: of the journal, which holds every change that was acknowledged. Where there is none, or it is damaged, of the rows
 * of the old index that can be read, of the copy of the settings, and of what content files say of themselves. The old index stays
 * beside it.
 * @throws {Error} when a process has the volume open
 */
export async function rebuildIndex(directory: string, now: () => number = Date.now): Promise<RebuildReport> {
  const lock = lockVolume(directory);
  try {
    const old = setAside(directory, now());
    const report = await rebuild(directory, old, now);
    unmarkDamaged(directory);
    return { ...report, setAside: old === undefined ? undefined : dirname(old) };
  } finally {
    lock.release();
  }
}

async function rebuild(
  directory: string,
  old: string | undefined,
  now: () => number,
): Promise<Omit<RebuildReport, "setAside">> {
  const journal = rebuildFromJournal(directory);
  if (journal?.isDamaged === false) {
    return { journal, salvaged: 0, found: 0, strange: 0, lost: [], short: [] };
  }
  if (old !== undefined || journal === undefined) {
    // The old index knows more than a journal that breaks off.
    removeIndex(directory);
  }
  const index = await IndexDatabase.open(directory, noCrashPoints, (error) => {
    throw error;
  });
  try {
    return { ...(await rebuildFromContent(index, directory, old, now)), journal };
  } finally {
    await index.close();
  }
}

/** Moves the old index away with its log; gives its new path. */
function setAside(directory: string, time: number): string | undefined {
  const folder = join(directory, `index-before-${new Date(time).toISOString().replace(/\D/g, "").slice(0, 14)}`);
  let old: string | undefined;
  for (const name of INDEX_FILES) {
    if (existsSync(join(directory, name))) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      renameSync(join(directory, name), join(folder, name));
      old = join(folder, "index.db");
    }
  }
  return old;
}

function removeIndex(directory: string): void {
  for (const name of INDEX_FILES) {
    rmSync(join(directory, name), { force: true });
  }
}
