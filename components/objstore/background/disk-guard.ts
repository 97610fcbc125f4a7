import { statfsSync } from "node:fs";

import { S3Error } from "../errors.ts";

export interface DiskGuard {
  /**
   * Checks that there is room for a write and sets aside what of it is on its way, until the function it gives back is called.
   * `sender` tells how much has come.
   * @throws {S3Error} InsufficientStorage when `bytes` more would touch the reserve
   */
  readonly reserve: (bytes: number, sender: { readonly socket: { readonly bytesRead: number } }) => () => void;
  readonly read: () => { readonly total: number; readonly free: number };
}

/** What is set aside for a write beyond what has come of it: what one can send between two looks at the disk. */
const AHEAD_BYTES = 64 << 20;
/** The same for a client that has sent nothing yet. */
const FIRST_BYTES = 4 << 20;

interface Pending {
  readonly bytes: number;
  readonly sender: { readonly socket: { readonly bytesRead: number } };
  readonly before: number;
}

/**
 * Refuses writes while there is still room for the index and for deletes: a full disk would stop both. An announced size must fit when
 * the write begins; set aside is what has come and what may come soon, so that announcing much and sending little takes no room from
 * others. Writes under way may count twice, but never too little.
 */
export function createDiskGuard(directory: string, reserved: number): DiskGuard {
  let free = 0;
  let total = 0;
  let measured = -Infinity;
  const writes = new Set<Pending>();
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
  const countPending = () => {
    let sum = 0;
    for (const { bytes, sender, before } of writes) {
      const come = sender.socket.bytesRead - before;
      sum += Math.min(bytes, come + (come === 0 ? FIRST_BYTES : AHEAD_BYTES));
    }
    return sum;
  };
  return {
    read,
    reserve: (bytes, sender) => {
      if (read().free - countPending() - bytes < reserved) {
        throw new S3Error("InsufficientStorage");
      }
      const write = { bytes, sender, before: sender.socket.bytesRead };
      writes.add(write);
      return () => {
        writes.delete(write);
        // Written since the disk was last looked at.
        free -= bytes;
      };
    },
  };
}
