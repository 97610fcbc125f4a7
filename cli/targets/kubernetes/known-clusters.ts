import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { readJsonFile, writeJsonFile } from "../embedded/state/json-file.ts";
import { stateRoot } from "../embedded/state/paths.ts";
import type { ClusterAddress } from "./api/connection.ts";

/** What this machine remembers of a deployment on Kubernetes: where it is. Everything else is kept in the cluster. */
export interface KnownCluster extends ClusterAddress {
  readonly domain: string;
}

export function readKnownCluster(name: string, env: NodeJS.ProcessEnv): KnownCluster | undefined {
  return readJsonFile<KnownCluster>(fileOf(name, env));
}

export function writeKnownCluster(name: string, cluster: KnownCluster, env: NodeJS.ProcessEnv): void {
  // Other accounts pass through the first on the way to what is theirs.
  mkdirSync(stateRoot(env), { recursive: true, mode: 0o711 });
  mkdirSync(folderOf(env), { recursive: true, mode: 0o700 });
  writeJsonFile(fileOf(name, env), cluster);
}

export function forgetKnownCluster(name: string, env: NodeJS.ProcessEnv): void {
  rmSync(fileOf(name, env), { force: true });
}

export function listKnownClusters(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    return readdirSync(folderOf(env))
      .filter((file) => file.endsWith(".json"))
      .map((file) => file.slice(0, -".json".length))
      .toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return [];
    }
    throw error;
  }
}

const folderOf = (env: NodeJS.ProcessEnv): string => join(stateRoot(env), "kubernetes");
const fileOf = (name: string, env: NodeJS.ProcessEnv): string => join(folderOf(env), `${name}.json`);
