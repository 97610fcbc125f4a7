import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Plan } from "../platform/plan.ts";
import { stateRoot } from "../targets/embedded/state/paths.ts";
import { type Release, missingMigrations } from "./releases.ts";

interface UpgradeOptions {
  /** What runs now. */
  readonly deployed: Plan;
  /** The version of it, where a record was kept. */
  readonly last: Release | undefined;
  readonly release: Release;
}

type Upgrade =
  /** The same migrations, or newer ones of components that have no data yet. */
  | { readonly kind: "none" }
  /** What is there is newer than this code. */
  | { readonly kind: "refused"; readonly migrations: readonly string[]; readonly last: Release }
  | { readonly kind: "migrates"; readonly migrations: readonly string[] };

/** What applying this version does to the data of a cluster. Changes nothing. */
export function checkUpgrade({ deployed, last, release }: UpgradeOptions): Upgrade {
  const components = deployed.components.map(({ name }) => name);
  if (last === undefined) {
    // Of a version that kept no record: whether anything changes is not known.
    return { kind: "migrates", migrations: [] };
  }
  const newer = missingMigrations(last.migrations, release.migrations, components);
  if (newer.length > 0) {
    return { kind: "refused", migrations: newer, last };
  }
  const migrations = missingMigrations(release.migrations, last.migrations, components);
  return migrations.length === 0 ? { kind: "none" } : { kind: "migrates", migrations };
}

const KEPT = 3;

/** A file on this machine for the backup before an upgrade; older ones than the last few are removed. */
export function prepareBackupFile(cluster: string, env: NodeJS.ProcessEnv): string {
  // Not in the folder of the cluster, which is removed with it.
  const folder = join(stateRoot(env), "backups", cluster);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const present = readdirSync(folder)
    .filter((name) => name.endsWith(".tar.zst"))
    .sort();
  for (const name of present.slice(0, Math.max(0, present.length - KEPT + 1))) {
    rmSync(join(folder, name));
  }
  return join(folder, `before-upgrade-${new Date().toISOString().replace(/\..*|[-:]/g, "")}.tar.zst`);
}
