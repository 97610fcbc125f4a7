import { constants, copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { readBase } from "../journal/journal-base.ts";
import { basePath, readJournal } from "../journal/journal-files.ts";
import { replay } from "../journal/replay.ts";

export interface JournalReport {
  /** Versions and delete markers of all buckets. */
  readonly versions: number;
  /** When the last change was made, in milliseconds since 1970; undefined when nothing changed since the base. */
  readonly until: number | undefined;
  /** Changes after a damaged stretch could not be applied. */
  readonly isDamaged: boolean;
}

/** Makes `index.db` of the base of the journal and all changes since; undefined when there is no base that can be read. */
export function rebuildFromJournal(directory: string): JournalReport | undefined {
  const base = readBase(directory);
  if (base === undefined || !isWhole(basePath(directory))) {
    return undefined;
  }
  const path = join(directory, "index.db");
  copyFileSync(basePath(directory), path, constants.COPYFILE_FICLONE);
  const index = new DatabaseSync(path);
  try {
    index.exec("pragma journal_mode = wal; pragma synchronous = normal");
    const { time, isDamaged } = replay(index, readJournal(directory, base.id, base.batch));
    if (isDamaged) {
      // The index goes on with a journal of its own.
      index.exec("update journal set id = ''");
    }
    const { versions } = index.prepare("select count(*) as versions from versions").get() as { versions: number };
    return { versions, until: time, isDamaged };
  } finally {
    index.close();
  }
}

function isWhole(path: string): boolean {
  const base = new DatabaseSync(path, { readOnly: true });
  try {
    return base.prepare("pragma quick_check(1)").get()?.["quick_check"] === "ok";
  } catch {
    return false;
  } finally {
    base.close();
  }
}
