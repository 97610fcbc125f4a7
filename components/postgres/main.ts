// Prepares the data directory, then becomes PostgreSQL: the process is replaced, so nothing stands between the
// supervisor's signals and the server.
import { dirname, join } from "node:path";

import {
  type DatabaseAccount,
  findDatabaseAccount,
  installBinaries,
  prepareDataDirectory,
  setUpDatabase,
} from "@swath/postgres/server";
import { SettingsError, createLogger, loadSettings, parseListenAddress } from "@swath/service";

import { settings as definitions } from "./config.ts";

const logger = createLogger("postgres", process.env["LOG_LEVEL"]);
try {
  const settings = loadSettings(definitions, process.env);
  const account = findDatabaseAccount();
  const directory = settings.DATA_DIR;
  const binaries = installBinaries({ copyTo: join(directory, "programs"), account });
  const data = prepareDataDirectory({
    binaries,
    directory,
    account,
    superuser: settings.POSTGRES_USER,
    password: settings.POSTGRES_PASSWORD,
    configuration: {
      ...listenConfiguration(settings.LISTEN_POSTGRES),
      max_connections: settings.POSTGRES_MAX_CONNECTIONS,
      shared_buffers: settings.POSTGRES_SHARED_BUFFERS,
      log_timezone: "UTC",
      timezone: "UTC",
      password_encryption: "scram-sha-256",
      wal_compression: "on",
    },
  });
  setUpDatabase({
    binaries,
    directory,
    account,
    superuser: settings.POSTGRES_USER,
    password: settings.POSTGRES_PASSWORD,
    database: settings.POSTGRES_DATABASE,
  });
  dropPrivileges(account, socketGroup(settings.LISTEN_POSTGRES));
  process.execve?.(binaries.postgres, [binaries.postgres, "-D", data], { LC_ALL: "C", TZ: "UTC", ...podMarker() });
} catch (error) {
  if (error instanceof SettingsError) {
    logger.fatal({ mistakes: error.mistakes }, "settings are not usable");
    process.exit(78);
  }
  logger.fatal({ err: error }, "PostgreSQL could not be started");
  process.exit(1);
}

function listenConfiguration(listen: string): Record<string, string | number> {
  const address = parseListenAddress(listen);
  return "path" in address
    ? {
        listen_addresses: "",
        unix_socket_directories: dirname(address.path),
        // Who is in the group has the address; each still shows a password.
        ...(address.group === undefined
          ? { unix_socket_permissions: "0700" }
          : { unix_socket_permissions: "0770", unix_socket_group: String(address.group) }),
      }
    : {
        listen_addresses: address.host === "" ? "*" : address.host,
        port: address.port,
        unix_socket_directories: "/tmp",
      };
}

function socketGroup(listen: string): number | undefined {
  const address = parseListenAddress(listen);
  return "path" in address ? address.group : undefined;
}

/** @param group which it may give its socket to */
function dropPrivileges(account: DatabaseAccount | undefined, group: number | undefined): void {
  if (account !== undefined) {
    process.setgroups?.([account.gid, ...(group === undefined ? [] : [group])]);
    process.setgid?.(account.gid);
    process.setuid?.(account.uid);
  }
}

/** The supervisor recognises its processes by this variable; the password stays behind. */
function podMarker(): Record<string, string> {
  const marker = process.env["SWATH_POD"];
  return marker === undefined ? {} : { SWATH_POD: marker };
}
