import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { ClusterPaths } from "./paths.ts";

export interface VolumeUse {
  /** `<namespace>/<name>`. */
  readonly volume: string;
  readonly bytes: number;
}

/** Volumes of a cluster and what they hold on disk. */
export function listVolumes({ volumes }: Pick<ClusterPaths, "volumes">): readonly VolumeUse[] {
  return listFolders(volumes).flatMap((namespace) =>
    listFolders(join(volumes, namespace)).map((name) => ({
      volume: `${namespace}/${name}`,
      bytes: sizeOf(join(volumes, namespace, name)),
    })),
  );
}

/** Names of the folders in a folder; none where it is not there. */
export const listFolders = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .toSorted()
    : [];

/** Blocks in use below a path; a file that goes away meanwhile counts nothing. */
function sizeOf(path: string): number {
  try {
    const stats = lstatSync(path);
    const own = stats.blocks * 512;
    return stats.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), own) : own;
  } catch {
    return 0;
  }
}
