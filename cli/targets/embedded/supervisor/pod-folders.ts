import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { findDatabaseAccount } from "@swath/postgres/account";

import type { ServiceAccounts } from "../accounts/service-accounts.ts";
import type { LaunchSpec } from "../launch/launch-spec.ts";

interface PodPlaces {
  /** Folder of its sockets. */
  readonly directory: string;
  /** Folder of all volumes. */
  readonly volumes: string;
  readonly accounts: ServiceAccounts | undefined;
}

/**
 * Makes the folders of a pod's sockets and volumes for the account that it runs as. Volumes are closed to all others. Where services
 * have accounts of their own, others pass through the folder of sockets, each of which has a group that may open it.
 */
export function makePodFolders({ workload, account }: LaunchSpec, { directory, volumes, accounts }: PodPlaces): void {
  const owner = workload.account === "database" ? findDatabaseAccount() : account?.account;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (owner !== undefined) {
    chownSync(directory, owner.uid, owner.gid);
  }
  // The mode of an existing folder stays otherwise: one of before accounts were there, when a pod is started again.
  chmodSync(directory, account === undefined ? 0o700 : 0o711);
  const namespace = join(volumes, workload.namespace);
  mkdirSync(namespace, { recursive: true, mode: 0o711 });
  for (const { volume } of workload.mounts ?? []) {
    const folder = join(namespace, volume);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (workload.account === "database") {
      chownSync(folder, owner?.uid ?? -1, owner?.gid ?? -1);
    } else {
      giveVolume(folder, `${workload.namespace}/${volume}`, { owner, accounts });
    }
  }
}

/** Gives all files of a volume to an account, once: of an earlier version, of a backup, or of a start as root they are root's. */
function giveVolume(
  folder: string,
  name: string,
  {
    owner,
    accounts,
  }: { readonly owner: { uid: number; gid: number } | undefined; readonly accounts: ServiceAccounts | undefined },
): void {
  if (accounts === undefined || accounts.numbers.ownerOf(name) === owner?.uid) {
    return;
  }
  if (owner !== undefined) {
    // Follows no links, and holds each folder open while it is in it: what a stranger changes there meanwhile leads nowhere else.
    const { status, stderr, error } = spawnSync("chown", ["-hR", `${owner.uid}:${owner.gid}`, "--", folder], {
      encoding: "utf8",
    });
    if (status !== 0) {
      throw new Error(`${folder} could not be given to the account ${owner.uid}: ${error?.message ?? stderr.trim()}`);
    }
  }
  accounts.numbers.recordOwner(name, owner?.uid);
}
