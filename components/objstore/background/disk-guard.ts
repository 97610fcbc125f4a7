import { statfsSync } from "node:fs";

import { S3Error } from "../errors.ts";

export interface DiskGuard {
  /**
   * Sets room aside for a write until the function it gives back is called.
   * @throws {S3Error} InsufficientStorage when `bytes` more would touch the reserve
   */
  readonly reserve: (bytes: number) => () => void;
  readonly read: () => { readonly total: number; readonly free: number };
}

/**
 * Refuses writes while there is still room for the index and for deletes: a full disk would stop both. What is being written
 * counts whole until it is done, so writes under way may count twice, but never too little.
 */
export function createDiskGuard(directory: string, reserved: number): DiskGuard {
  let free = 0;
  let total = 0;
  let pending = 0;
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
    reserve: (bytes) => {
      if (read().free - pending - bytes < reserved) {
        throw new S3Error("InsufficientStorage");
      }
      pending += bytes;
      return () => {
        pending -= bytes;
        // Written since the disk was last looked at.
        free -= bytes;
      };
    },
  };
}
