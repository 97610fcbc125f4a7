import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Sql } from "../store/database.ts";
import type { UserRow } from "../store/users.ts";
import type { Profile } from "./model.ts";
import { ProfileFileError, parseProfiles } from "./parse.ts";

/** The profiles in force. */
export interface Profiles {
  readonly list: () => Promise<readonly Profile[]>;
  /** Those that a user may start. */
  readonly listFor: (user: Pick<UserRow, "groups" | "admin">) => Promise<readonly Profile[]>;
  /** As they are written. */
  readonly text: () => Promise<{ readonly text: string; readonly author: string | undefined }>;
  /** Puts others in force. @throws {ProfileFileError} */
  readonly save: (text: string, author: string) => Promise<void>;
  /** Back to those that the hub or the operator's file brings. */
  readonly reset: () => Promise<void>;
  /** What is wrong with the operator's file, where it is. */
  readonly problem: () => string | undefined;
}

/** Everybody, in `groups` of a profile. */
const EVERYBODY = "*";

export function openProfiles(sql: Sql, file: string | undefined): Profiles {
  const shipped = readFileSync(join(import.meta.dirname, "shipped.yml"), "utf8");
  let problem: string | undefined;
  const readBase = (): string => {
    if (file === undefined) {
      return shipped;
    }
    try {
      const text = readFileSync(file, "utf8");
      parseProfiles(text);
      problem = undefined;
      return text;
    } catch (error) {
      problem = `${file}: ${(error as Error).message}`;
      if (error instanceof ProfileFileError || (error as NodeJS.ErrnoException).code !== undefined) {
        return shipped;
      }
      throw error;
    }
  };
  const base = readBase();
  const parsed = new Map<string, readonly Profile[]>();
  const parse = (text: string): readonly Profile[] => {
    const known = parsed.get(text);
    if (known !== undefined) {
      return known;
    }
    const profiles = parseProfiles(text);
    parsed.clear();
    parsed.set(text, profiles);
    return profiles;
  };
  const text = async () => {
    const saved = await sql.first<{ text: string; author: string }>(
      "select text, author from profile_files order by version desc limit 1",
    );
    return saved === undefined || saved.text === "" ? { text: base, author: undefined } : saved;
  };
  const list = async () => parse((await text()).text);
  return {
    list,
    text,
    listFor: async ({ groups, admin }) =>
      (await list()).filter(
        (profile) => admin || profile.groups.some((group) => group === EVERYBODY || groups.includes(group)),
      ),
    save: async (changed, author) => {
      parseProfiles(changed);
      await sql.rows("insert into profile_files (text, author) values ($1, $2)", [changed, author]);
    },
    reset: async () => {
      await sql.rows("insert into profile_files (text, author) values ('', '')");
    },
    problem: () => problem,
  };
}
