import { existsSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { DatabaseSync, backup } from "node:sqlite";

import { basePath, journalDirectory } from "./journal-files.ts";
import { syncDirectory } from "../sync-directory.ts";

/** Pages of one step, between which a copy may be given up. */
const STEP_PAGES = 512;

/** To which journal and batch a copy of the index belongs. */
export interface IndexState {
  readonly id: string;
  readonly batch: number;
  /** Number of migrations that were applied. */
  readonly form: number;
}

/** State of an index; undefined when it has no journal. */
export function readState(database: DatabaseSync): IndexState | undefined {
  if (database.prepare("select 1 from sqlite_schema where name = 'journal'").get() === undefined) {
    return undefined;
  }
  const row = database.prepare("select id, batch from journal").get() as { id: string; batch: number } | undefined;
  const { user_version: form } = database.prepare("pragma user_version").get() as { user_version: number };
  return row === undefined || row.id === "" ? undefined : { ...row, form };
}

/** State of the base of a journal; undefined when there is none that can be read. */
export function readBase(directory: string): (IndexState & { readonly bytes: number }) | undefined {
  const path = basePath(directory);
  if (!existsSync(path)) {
    return undefined;
  }
  const base = new DatabaseSync(path, { readOnly: true });
  try {
    const state = readState(base);
    return state && { ...state, bytes: statSync(path).size };
  } catch {
    // A rebuild tells of it; as long as the index is whole a new base takes its place.
    return undefined;
  } finally {
    base.close();
  }
}

/**
 * Copies the index as of one moment, while it is in use, and calls `beforeUse` before the copy takes the place of the last base. A step
 * may be given up by `signal`.
 */
export async function makeBase(
  index: string,
  directory: string,
  signal: AbortSignal,
  beforeUse: (state: IndexState) => Promise<unknown>,
): Promise<IndexState & { readonly bytes: number }> {
  const path = basePath(directory);
  const copy = `${path}.new`;
  await rm(copy, { force: true });
  const source = new DatabaseSync(index, { readOnly: true });
  let state: IndexState | undefined;
  try {
    // Holds its view until the copy is whole.
    source.exec("begin");
    state = readState(source);
    await backup(source, copy, { rate: STEP_PAGES, progress: () => signal.throwIfAborted() });
  } finally {
    source.close();
  }
  if (state === undefined) {
    throw new Error(`The index ${index} belongs to no journal.`);
  }
  // Without a log of its own: one file, which can be copied and read where nothing can be written.
  const written = new DatabaseSync(copy);
  written.exec("pragma journal_mode = delete");
  written.close();
  const file = await open(copy, "r");
  const { size: bytes } = await file.stat();
  await file.sync();
  await file.close();
  await beforeUse(state);
  await rename(copy, path);
  await syncDirectory(journalDirectory(directory));
  return { ...state, bytes };
}
