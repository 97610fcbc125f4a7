import { chmodSync, lstatSync, mkdirSync, symlinkSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { findBarrier, findDatabaseAccount } from "@swath/postgres/account";

import type { ClusterPaths } from "./paths.ts";

/** The folder of the state cannot be used as it is; says which and why. */
export class StateDirectoryError extends Error {
  override readonly name = "StateDirectoryError";
}

/**
 * Makes the folders of a cluster. Other users may walk through the outer ones (PostgreSQL has an account of its own when the
 * operator is root) but read none, and may not enter those with sockets, logs, keys and volumes.
 */
export function prepareDirectories(paths: ClusterPaths): void {
  try {
    for (const directory of [dirname(dirname(paths.directory)), dirname(paths.directory), paths.directory]) {
      mkdirSync(directory, { recursive: true, mode: 0o711 });
    }
    makePrivate(paths.run, 0o711);
    makePrivate(paths.volumes, 0o711);
    makePrivate(paths.logs, 0o700);
    makePrivate(paths.tls, 0o700);
    // Its group is that of the ingress, where that has its own account.
    makePrivate(paths.ingress, 0o750);
    makePrivate(join(paths.run, "pods"), 0o711);
    makePrivate(join(paths.run, "svc"), 0o711);
    checkReachable(paths);
    const link = join(paths.directory, "run");
    if (paths.run !== link) {
      // Sockets lie elsewhere because this path is too long for them; whoever looks finds them here all the same.
      rmSync(link, { force: true });
      symlinkSync(paths.run, link);
    }
  } catch (cause) {
    if (cause instanceof StateDirectoryError) {
      throw cause;
    }
    throw new StateDirectoryError(
      `The state folder ${paths.directory} cannot be used: ${(cause as Error).message}. ` +
        "Make it writable for this user, or set SWATH_STATE_DIR to a folder that is.",
      { cause },
    );
  }
}

/** PostgreSQL does not run as root: the account it runs as has to get to its data. */
function checkReachable(paths: ClusterPaths): void {
  const account = findDatabaseAccount();
  for (const folder of [paths.volumes, paths.run]) {
    const barrier = findBarrier(folder, account);
    if (account !== undefined && barrier !== undefined) {
      throw new StateDirectoryError(
        `PostgreSQL runs as "${account.name}" here, which may not pass through ${barrier}. ` +
          `Allow it (chmod o+x ${barrier}), or set SWATH_STATE_DIR to a folder that everybody may pass through to.`,
      );
    }
  }
}

function makePrivate(directory: string, mode: number): void {
  mkdirSync(directory, { recursive: true, mode });
  const found = lstatSync(directory);
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) {
    throw new StateDirectoryError(
      `${directory} belongs to somebody else; remove it or set SWATH_STATE_DIR to another folder.`,
    );
  }
  chmodSync(directory, mode);
}
