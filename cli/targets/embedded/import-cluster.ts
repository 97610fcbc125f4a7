import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { ArchiveError, type ArchiveEntry, unpackEntry } from "@swath/archive";

import type { ClusterSettings } from "./state/cluster-settings.ts";
import { readJsonFile, writeJsonFile } from "./state/json-file.ts";
import type { ClusterPaths } from "./state/paths.ts";
import type { DesiredState } from "./supervisor/supervisor.ts";

/** Where entries of a backup may go: nothing of a foreign archive lands anywhere else. */
const ALLOWED = /^(cluster\/((cluster|plan|secrets)\.json|tls(\/[^/]+)*)|volumes\/[a-z0-9-]+\/[a-z0-9-]+(\/.+)?)$/;

/** A cluster that is being made from a backup; nothing is to be seen of it before `finish`. */
export interface ClusterImport {
  readonly take: (entry: ArchiveEntry) => Promise<void>;
  /** Forces everything to the disk and puts it in its place, as a deployment that is stopped. */
  readonly finish: () => void;
  /** Removes what was unpacked. */
  readonly discard: () => void;
}

/** What keeps a cluster from being restored under this name, if anything does. */
export function findConflict(paths: ClusterPaths): string | undefined {
  if (existsSync(paths.planFile)) {
    return "something is deployed";
  }
  return existsSync(paths.volumes) && readdirSync(paths.volumes).length > 0 ? "there are volumes" : undefined;
}

/** Begins to make a cluster from the entries of a backup with these volumes (`<namespace>/<name>`). */
export function importCluster(paths: ClusterPaths, volumes: readonly string[]): ClusterImport {
  const directory = `${paths.directory}.restoring`;
  rmSync(directory, { recursive: true, force: true });
  // Programs with an account of their own walk through these; see prepareDirectories.
  mkdirSync(join(directory, "volumes"), { recursive: true, mode: 0o711 });
  for (const volume of volumes) {
    checkName(`volumes/${volume}`);
    mkdirSync(join(directory, "volumes", volume.split("/")[0] ?? ""), { recursive: true, mode: 0o711 });
  }
  return {
    take: async (entry) => {
      checkName(entry.name);
      await unpackEntry(entry, directory, entry.name.replace(/^cluster\//, ""));
    },
    finish: () => {
      stop(directory, paths.cluster);
      const { status, stderr } = spawnSync("sync", ["--file-system", directory], { encoding: "utf8" });
      if (status !== 0) {
        throw new Error(`the restored files could not be forced to the disk: ${stderr}`);
      }
      rmSync(paths.directory, { recursive: true, force: true });
      renameSync(directory, paths.directory);
    },
    discard: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function checkName(name: string): void {
  if (!ALLOWED.test(name)) {
    throw new ArchiveError(`${JSON.stringify(name)} is no name that a backup of a cluster may hold`);
  }
}

/** The cluster begins stopped, under the name that it has now. */
function stop(directory: string, name: string): void {
  const planFile = join(directory, "plan.json");
  const desired = readJsonFile<DesiredState>(planFile);
  const clusterFile = join(directory, "cluster.json");
  const settings = readJsonFile<ClusterSettings>(clusterFile);
  if (desired === undefined || settings === undefined) {
    throw new ArchiveError("the backup holds no deployment; use another one");
  }
  const cluster = { ...settings, name };
  writeJsonFile(clusterFile, cluster);
  const plan = { ...desired.plan, settings: { ...desired.plan.settings, clusterName: name } };
  writeJsonFile(planFile, { ...desired, plan, cluster, stopped: true } satisfies DesiredState);
}
