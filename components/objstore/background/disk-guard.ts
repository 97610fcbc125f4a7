import { statfsSync } from "node:fs";

import { S3Error } from "../errors.ts";

export interface DiskGuard {
  /** @throws {S3Error} InsufficientStorage when `bytes` more would touch the reserve */
  readonly check: (bytes: number) => void;
  readonly read: () => { readonly total: number; readonly free: number };
}

/** Refuses writes while there is still room for the index and for deletes: a full disk would stop both. */
export function createDiskGuard(directory: string, reserved: number): DiskGuard {
  let free = 0;
  let total = 0;
  let measured = -Infinity;
  const read = () => {
    const now = performance.now();
    if (now - measured > 1000) {
      const { bavail, blocks, bsize } = statfsSync(directory);
      free = bavail * bsize;
      total = blocks * bsize;
      measured = now;
    }
    return { total, free };
  };
  return {
    read,
    check: (bytes) => {
      if (read().free - bytes < reserved) {
        throw new S3Error("InsufficientStorage");
      }
      // Counted at once, so that many uploads within one second do not all see the same room.
      free -= bytes;
    },
  };
}
