import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { basePath } from "../journal/journal-files.ts";

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
const MARK = "index.damaged";

const REMEDY =
  "Stop the object store and run `swath objstore rebuild`, which makes a new index of the journal, or else of what can be read of the old one and of the content files, and start it again; or restore a backup.";

/** Whether an error says that the index itself cannot be read, rather than that the disk is full or busy. */
export function isDamage(error: unknown): error is Error {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** Notes beside the index that it was found damaged, so that the next start looks at all of it. */
export function markDamaged(path: string, cause: Error): Error {
  try {
    writeFileSync(join(path, "..", MARK), `${new Date().toISOString()} ${cause.message}\n`);
  } catch {
    // Without the note the next start meets the same damage.
  }
  return new Error(`The index of the object store is damaged: ${cause.message}. ${REMEDY}`, { cause });
}

/**
 * Refuses a volume whose index is lost or damaged: starting would take all content for what a crash has left, and delete it.
 * @throws {Error} that says what to do
 */
export function checkIndex(directory: string): void {
  const path = join(directory, "index.db");
  if (!existsSync(path) || statSync(path).size === 0 || isEmpty(path)) {
    if (hasContent(directory) || existsSync(basePath(directory))) {
      throw new Error(`The volume ${directory} holds content and no index. Nothing was deleted. ${REMEDY}`);
    }
    return;
  }
  if (!existsSync(join(directory, MARK))) {
    return;
  }
  const index = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = index.prepare("pragma quick_check(1)").all();
    if (rows[0]?.["quick_check"] !== "ok") {
      throw new Error(
        `The index of the object store is damaged: ${String(rows[0]?.["quick_check"]).replaceAll("\n", " ").slice(0, 200)}. ${REMEDY}`,
      );
    }
  } catch (error) {
    throw isDamage(error) ? markDamaged(path, error) : error;
  } finally {
    index.close();
  }
  // It was the memory or the cable: what is on the disk is whole.
  rmSync(join(directory, MARK));
}

/** Whether `checkIndex` has nothing to say. */
export function isIndexWhole(directory: string): boolean {
  try {
    checkIndex(directory);
    return true;
  } catch {
    return false;
  }
}

/** Forgets the note, once there is a new index. */
export function unmarkDamaged(directory: string): void {
  rmSync(join(directory, MARK), { force: true });
}

/** Whether nothing was ever stored in the index. */
function isEmpty(path: string): boolean {
  const index = new DatabaseSync(path, { readOnly: true });
  try {
    return index.prepare("select count(*) as tables from sqlite_schema").get()?.["tables"] === 0;
  } catch {
    // What cannot be read is damage, of which its first use tells.
    return false;
  } finally {
    index.close();
  }
}

function hasContent(directory: string): boolean {
  const content = join(directory, "content");
  return (
    existsSync(content) &&
    readdirSync(content).some((hour) => /^\d{10}$/.test(hour) && readdirSync(join(content, hour)).length > 0)
  );
}
