import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { DatabaseAccount } from "./account.ts";
import type { PostgresBinaries } from "./binaries.ts";

export interface DataDirectoryOptions {
  readonly binaries: PostgresBinaries;
  /** Folder that holds the data directory `data`; belongs to the account afterwards. */
  readonly directory: string;
  readonly account?: DatabaseAccount | undefined;
  readonly superuser: string;
  readonly password: string;
  /** Settings beyond the defaults, written into the server's configuration at every start. */
  readonly configuration: Readonly<Record<string, string | number>>;
  /** Whether the data directory has to survive a machine that loses power: not that of a test. True when left out. */
  readonly durable?: boolean;
}

/**
 * Makes the data directory if it is not there, writes configuration and access rules, and returns its path.
 * A directory is made beside its place and renamed into it, so that a kill in the middle leaves nothing half-made.
 */
export function prepareDataDirectory(options: DataDirectoryOptions): string {
  const { directory, account, superuser, configuration } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (account !== undefined) {
    chownSync(directory, account.uid, account.gid);
  }
  const data = join(directory, "data");
  if (!existsSync(join(data, "PG_VERSION"))) {
    createCluster(options, data);
  }
  takeOver(data, account);
  const settings = Object.entries(configuration).map(
    ([key, value]) => `${key} = '${String(value).replaceAll("'", "''")}'\n`,
  );
  writeOwned(
    join(data, "postgresql.auto.conf"),
    `# Written at every start; edits are lost.\n${settings.join("")}`,
    account,
  );
  writeOwned(
    join(data, "pg_hba.conf"),
    `local all ${superuser} scram-sha-256\nlocal all all scram-sha-256\nhost all all all scram-sha-256\n`,
    account,
  );
  return data;
}

/** Data that was restored from a backup belongs to whoever unpacked it. */
function takeOver(data: string, account: DatabaseAccount | undefined): void {
  if (account !== undefined && statSync(data).uid !== account.uid) {
    for (const path of readdirSync(data, { recursive: true, encoding: "utf8" })) {
      chownSync(join(data, path), account.uid, account.gid);
    }
    // Last: only when this one is theirs has everything been taken over.
    chownSync(data, account.uid, account.gid);
  }
}

function createCluster(
  { binaries, directory, account, superuser, password, durable = true }: DataDirectoryOptions,
  data: string,
): void {
  const unfinished = join(directory, "data.new");
  const passwordFile = join(directory, "password.new");
  rmSync(unfinished, { recursive: true, force: true });
  writeOwned(passwordFile, `${password}\n`, account);
  const result = spawnSync(
    binaries.initdb,
    [
      `--pgdata=${unfinished}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
      "--data-checksums",
      ...(durable ? [] : ["--no-sync"]),
    ],
    { env: { LC_ALL: "C", TZ: "UTC" }, cwd: directory, ...(account && { uid: account.uid, gid: account.gid }) },
  );
  rmSync(passwordFile, { force: true });
  if (result.status !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    throw new Error(
      `PostgreSQL could not make its data directory ${data}: ${result.error?.message ?? result.stderr.toString().trim()}`,
    );
  }
  // What is left of an interrupted first start has no PG_VERSION and holds nothing.
  rmSync(data, { recursive: true, force: true });
  renameSync(unfinished, data);
}

function writeOwned(file: string, text: string, account: DatabaseAccount | undefined): void {
  const unfinished = `${file}.writing`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  if (account !== undefined) {
    chownSync(unfinished, account.uid, account.gid);
  }
  renameSync(unfinished, file);
}
