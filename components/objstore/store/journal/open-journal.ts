import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { type IndexState, makeBase, readBase, readState } from "./journal-base.ts";
import { findLastBatch, makeJournalDirectory, readJournal, setJournalAside } from "./journal-files.ts";
import { Journal } from "./journal.ts";
import { replay } from "./replay.ts";

/**
 * Brings an index that is there up to its journal, before anything else is done with it. After a power cut the index may lack
 * acknowledged changes, which the journal alone forces to the disk.
 * @throws {Error} when changes are missing between both
 */
export function catchUp(directory: string): void {
  const path = join(directory, "index.db");
  if (!existsSync(path)) {
    return;
  }
  const database = new DatabaseSync(path);
  try {
    database.exec("pragma synchronous = normal");
    const state = readState(database);
    if (state === undefined || readBase(directory)?.id !== state.id) {
      return;
    }
    const { batch, isDamaged } = replay(database, readJournal(directory, state.id, state.batch));
    if (isDamaged) {
      throw new Error(
        `The index of the object store ends with change ${batch}, and its journal goes on after a gap: a file of ${directory} was damaged or replaced by an older one. Nothing was deleted. Stop the object store and run \`swath objstore rebuild\`, or restore a backup.`,
      );
    }
  } finally {
    database.close();
  }
}

/** The journal of an index that is open and whose journal it is up to; makes a base where there is none that can be used. */
export async function openJournal({
  directory,
  database,
  now,
  segmentBytes,
}: {
  readonly directory: string;
  readonly database: DatabaseSync;
  readonly now: number;
  readonly segmentBytes: number;
}): Promise<{ readonly journal: Journal; readonly batch: number; readonly baseBytes: number }> {
  let state = readState(database);
  let base = readBase(directory);
  if (state === undefined || base?.id !== state.id) {
    // New, of a release before journals, restored from a backup, or of another index.
    setJournalAside(directory, now);
    database.prepare("update journal set id = ?, batch = 0").run(randomBytes(12).toString("hex"));
    [state, base] = [readState(database) as IndexState, undefined];
  }
  // A power cut may keep changes in the index that were on their way to the journal, and acknowledged to nobody.
  if (base?.form !== state.form || findLastBatch(directory, state.id, base.batch) < state.batch) {
    makeJournalDirectory(directory);
    base = await makeBase(join(directory, "index.db"), directory, new AbortController().signal, () =>
      Promise.resolve(),
    );
  }
  const journal = new Journal(directory, state.id, state.batch + 1, segmentBytes);
  await journal.sync();
  await journal.forget(base.batch);
  return { journal, batch: state.batch, baseBytes: base.bytes };
}
