import { statSync } from "node:fs";

import { type RasterPool, type SourceLocation, describeLocation } from "@swath/raster";
import { LRUCache } from "lru-cache";

/** How long a remote file is taken to be unchanged, as in `libs/raster`. */
const MAX_UNVERIFIED_MS = 5000;
const MAX_VERSIONS = 10_000;

/** Versions of the files that pictures are made from. */
export interface FileVersions {
  /** The version of a file, read by a raster thread where it may have changed. */
  readonly read: (location: SourceLocation) => Promise<string>;
  /** Whether a file has a version, without asking a thread or a server; false where that cannot be said. */
  readonly isCurrent: (location: SourceLocation, version: string) => boolean;
}

interface Known {
  readonly at: number;
  readonly version: Promise<string>;
  /** What the file system said just before the version was read. */
  readonly state: string | undefined;
  resolved?: string;
}

/** Remembers versions: of files on this machine for as long as the file system says the same of them, of others for some seconds. */
export function createFileVersions(pool: Pick<RasterPool, "version">): FileVersions {
  const versions = new LRUCache<string, Known>({ max: MAX_VERSIONS });
  const find = (location: SourceLocation, id: string, state: string | undefined): Known | undefined => {
    const known = versions.get(id);
    const isFresh =
      known !== undefined &&
      (location.kind === "file"
        ? state !== undefined && known.state === state
        : Date.now() - known.at < MAX_UNVERIFIED_MS);
    return isFresh ? known : undefined;
  };
  return {
    read: (location) => {
      const id = describeLocation(location);
      const state = stateOf(location);
      const known = find(location, id, state);
      if (known !== undefined) {
        return known.version;
      }
      // Not bound to one caller's signal: others may join.
      const version = pool.version(location);
      const entry: Known = { at: Date.now(), version, state };
      versions.set(id, entry);
      version.then(
        (text) => {
          entry.resolved = text;
        },
        () => {
          if (versions.peek(id) === entry) {
            versions.delete(id);
          }
        },
      );
      return version;
    },
    isCurrent: (location, version) =>
      find(location, describeLocation(location), stateOf(location))?.resolved === version,
  };
}

/** Differs once a file of this machine is another; `undefined` for whatever is no plain file. */
function stateOf(location: SourceLocation): string | undefined {
  if (location.kind !== "file") {
    return undefined;
  }
  // Synchronous: a microsecond or two, a tenth of what the thread pool takes.
  const stats = statSync(location.path, { throwIfNoEntry: false, bigint: true });
  return stats?.isFile() === true
    ? `${stats.dev}-${stats.ino}-${stats.size}-${stats.mtimeNs}-${stats.ctimeNs}`
    : undefined;
}
