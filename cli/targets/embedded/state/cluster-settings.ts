import { readJsonFile, writeJsonFile } from "./json-file.ts";
import type { ClusterPaths } from "./paths.ts";

/** What was chosen for a cluster when it was made, and stays: its addresses would otherwise change under its users. */
export interface ClusterSettings {
  readonly name: string;
  readonly domain: string;
  /** IP addresses the ingress listens on. */
  readonly addresses: readonly string[];
  readonly httpPort: number;
  readonly httpsPort: number;
  /** True when the ports were the operator's wish rather than what happened to be free. */
  readonly portsAreGiven: boolean;
  readonly createdAt: string;
}

export function readClusterSettings(paths: ClusterPaths): ClusterSettings | undefined {
  return readJsonFile<ClusterSettings>(paths.clusterFile);
}

export function writeClusterSettings(paths: ClusterPaths, settings: ClusterSettings): void {
  writeJsonFile(paths.clusterFile, settings);
}
