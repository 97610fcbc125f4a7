import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

const FOLDER = join(import.meta.dirname, "../../migrations");

/**
 * Brings the index to the newest form: numbered files, forward only, each in one transaction.
 * @throws {Error} when the index was written by a newer release
 */
export function migrateIndex(database: DatabaseSync): void {
  const files = readdirSync(FOLDER)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort();
  const { user_version: found } = database.prepare("pragma user_version").get() as { user_version: number };
  if (found > files.length) {
    throw new Error(
      `The index of this object store has form ${found}, this release knows ${files.length}: start the newer release again or restore a backup.`,
    );
  }
  for (const [position, file] of files.entries()) {
    if (position >= found) {
      const sql = readFileSync(join(FOLDER, file), "utf8");
      database.exec(`begin immediate; ${sql}; pragma user_version = ${position + 1}; commit`);
    }
  }
}
