import { setTimeout as sleep } from "node:timers/promises";

import { NameTakenError, acquireLock } from "./supervisor/single-instance.ts";

/** Waits until no other process changes this cluster, and keeps others waiting until released (or until it ends). */
export async function acquireApplyLock(clusterId: string, onWait: () => void): Promise<() => void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await acquireLock(`apply/${clusterId}`);
    } catch (error) {
      if (!(error instanceof NameTakenError)) {
        throw error;
      }
      if (attempt === 0) {
        onWait();
      }
      await sleep(100);
    }
  }
}
