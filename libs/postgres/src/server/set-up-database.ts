import { spawnSync } from "node:child_process";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { chownSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { DatabaseAccount } from "./account.ts";
import type { PostgresBinaries } from "./binaries.ts";

interface SetUpOptions {
  readonly binaries: PostgresBinaries;
  /** Folder with the data directory `data`. */
  readonly directory: string;
  readonly account?: DatabaseAccount | undefined;
  readonly superuser: string;
  readonly password: string;
  /** Made when it does not exist. */
  readonly database: string;
}

/**
 * Makes the database and sets the role's password where either differs from what was set last, in single-user mode, before
 * the server runs. What was set is remembered as a salted digest, so an ordinary start costs nothing.
 */
export function setUpDatabase(options: SetUpOptions): void {
  const { directory, account, superuser, password, database } = options;
  const file = join(directory, "set-up.json");
  const requested = `${superuser}\0${database}\0${password}`;
  if (isDone(file, requested)) {
    return;
  }
  // Single-user mode cannot catch errors of one statement; "already exists" is the one to expect, and harmless.
  runSingleUser(options, [
    `create database ${quoteName(database)};`,
    `alter role ${quoteName(superuser)} with password ${quoteText(password)};`,
  ]);
  const salt = randomBytes(16).toString("hex");
  writeFileSync(`${file}.writing`, JSON.stringify({ salt, digest: digest(salt, requested) }), { mode: 0o600 });
  if (account !== undefined) {
    chownSync(`${file}.writing`, account.uid, account.gid);
  }
  renameSync(`${file}.writing`, file);
}

function isDone(file: string, requested: string): boolean {
  try {
    const { salt, digest: found } = JSON.parse(readFileSync(file, "utf8")) as { salt: string; digest: string };
    return timingSafeEqual(Buffer.from(found), Buffer.from(digest(salt, requested)));
  } catch {
    // No file, or one cut short: setting up again is harmless.
    return false;
  }
}

function digest(salt: string, text: string): string {
  return createHash("sha256").update(`${salt}\0${text}`).digest("hex");
}

function runSingleUser({ binaries, directory, account }: SetUpOptions, statements: readonly string[]): void {
  const result = spawnSync(
    binaries.postgres,
    ["--single", "-j", "-D", join(directory, "data"), "-c", "log_statement=none", "postgres"],
    {
      // With -j a statement ends at a semicolon and an empty line.
      input: `${statements.join("\n\n")}\n\n`,
      encoding: "utf8",
      env: { LC_ALL: "C", TZ: "UTC" },
      ...(account && { uid: account.uid, gid: account.gid }),
    },
  );
  const output = [result.stdout, result.stderr].join("\n");
  const errors = output
    .split("\n")
    .filter((line) => /\b(ERROR|FATAL|PANIC):/.test(line) && !line.includes("already exists"));
  if (result.status !== 0 || errors.length > 0) {
    throw new Error(
      `PostgreSQL could not be set up: ${result.error?.message ?? (errors.join("; ") || `status ${result.status}`)}`,
    );
  }
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
