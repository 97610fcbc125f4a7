import { existsSync, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";

import type { IndexDatabase } from "../index/index-database.ts";
import { syncDirectory } from "../sync-directory.ts";

const NAME = "settings.json";

/** What cannot be told from content files: rows of these tables, and temporary keys are left out. */
const TABLES = {
  buckets: "select * from buckets",
  users: "select * from users",
  access_keys: "select * from access_keys where token is null",
  roles: "select * from roles",
  meta: "select * from meta",
} as const;

export type SettingsTable = keyof typeof TABLES;
export type SettingsRows = Readonly<Record<SettingsTable, readonly Readonly<Record<string, string | number | null>>[]>>;

/** Keeps buckets, users, keys and roles beside the index as well, for the day on which the index is lost. */
export class SettingsCopy {
  readonly #directory: string;
  readonly #index: IndexDatabase;
  #last = "";

  constructor(directory: string, index: IndexDatabase) {
    this.#directory = directory;
    this.#index = index;
  }

  /** Writes the copy anew when something changed. Called at intervals and at the end. */
  async write(): Promise<void> {
    const rows = Object.fromEntries(Object.entries(TABLES).map(([name, sql]) => [name, this.#index.all(sql)]));
    const text = JSON.stringify(rows);
    if (text === this.#last) {
      return;
    }
    const path = join(this.#directory, NAME);
    const file = await open(`${path}.new`, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
    await syncDirectory(this.#directory);
    this.#last = text;
  }
}

/** The copy; undefined when there is none. */
export function readSettingsCopy(directory: string): SettingsRows | undefined {
  const path = join(directory, NAME);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as SettingsRows) : undefined;
}
