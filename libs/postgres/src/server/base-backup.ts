import { join } from "node:path";

import type { ArchiveWriter } from "@swath/archive";
import pg from "pg";

interface BaseBackupOptions {
  /** Connection string of a superuser. */
  readonly url: string;
  /** The server's data directory, readable here. */
  readonly data: string;
  readonly archive: ArchiveWriter;
  /** Put before every name in the archive, with a slash at its end. */
  readonly prefix: string;
}

/** Contents that a copy must not have, or that the server makes anew (PostgreSQL 18, section 25.3.4.3). */
const CONTROL = "global/pg_control";
const LEFT_OUT = [
  /^postmaster\.(pid|opts)$/,
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/.*/,
  /(^|\/)pgsql_tmp[^/]*$/,
  /(^|\/)pg_internal\.init[^/]*$/,
];

/**
 * Writes a copy of a running server's data into a tar stream; a server started on the unpacked copy has everything that was
 * committed when this ended. By the low-level interface (PostgreSQL 18, section 25.3.4), because the server's programs that
 * come with npm have no pg_basebackup. A temporary slot keeps the log that the copy needs.
 * @throws {Error} when the server refuses or goes away
 */
export async function packBaseBackup({ url, data, archive, prefix }: BaseBackupOptions): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: "swath backup" });
  // A connection that breaks while nothing is asked of it is reported by the next query.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("set statement_timeout = 0; set idle_session_timeout = 0");
    await client.query("select pg_create_physical_replication_slot($1, true, true)", [`swath_backup_${process.pid}`]);
    const start = await first(client, "select pg_walfile_name(pg_backup_start('swath', true)) as file");
    await archive.addFolder(data, {
      prefix,
      skip: (path) => path === CONTROL || LEFT_OUT.some((pattern) => pattern.test(path)),
    });
    // Last, as pg_basebackup does: it must not be older than anything else in the copy.
    await archive.addFile(join(data, CONTROL), `${prefix}${CONTROL}`);
    const end = await first(client, "select pg_walfile_name(lsn) as file, labelfile from pg_backup_stop(false)");
    await archive.addText(`${prefix}backup_label`, end["labelfile"] ?? "");
    const { rows } = await client.query<{ name: string }>(
      "select name from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$' and name between $1 and $2 order by name",
      [start["file"], end["file"]],
    );
    const names = new Set(rows.map(({ name }) => name));
    if (!names.has(start["file"] ?? "") || !names.has(end["file"] ?? "")) {
      throw new Error(
        `the server has already removed log from ${start["file"]} to ${end["file"]}; make the copy again`,
      );
    }
    await archive.addFolder(join(data, "pg_wal"), { prefix: `${prefix}pg_wal/`, skip: (path) => !names.has(path) });
  } finally {
    await client.end();
  }
}

async function first(client: pg.Client, sql: string): Promise<Record<string, string | undefined>> {
  const { rows } = await client.query<Record<string, string>>(sql);
  return rows[0] ?? {};
}
