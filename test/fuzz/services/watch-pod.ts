import { existsSync } from "node:fs";
import { join } from "node:path";

import { callManagement } from "../../../cli/targets/embedded/management-client.ts";
import type { ApiDocument } from "./make-request.ts";

/** What a pod was like since it was looked at last. */
export interface PodTotals {
  /** Errors of requests that nothing caught, since the pod started. */
  readonly faults: number;
  readonly residentBytes: number;
}

/** Looks at a pod from the side. Both reject when its process has ended. */
export interface PodWatch {
  /** The longest that the event loop stood still since the last reading, in milliseconds of its thread's processor time. */
  readonly readStallMs: () => Promise<number>;
  readonly readTotals: () => Promise<PodTotals>;
}

/** @param directory where the pod's sockets lie */
export function createPodWatch(directory: string): PodWatch {
  return {
    readStallMs: async () => Number(await callManagement(directory, "/stall")),
    readTotals: async () => {
      const text = await callManagement(directory, "/metrics");
      return {
        faults: valueOf(text, "request_faults_total"),
        residentBytes: valueOf(text, "process_resident_memory_bytes"),
      };
    },
  };
}

/** What a pod says that it serves; undefined where it has no management listener. @param directory where its sockets lie */
export async function readServedRoutes(directory: string): Promise<ApiDocument | undefined> {
  return existsSync(join(directory, "management.sock"))
    ? (JSON.parse(await callManagement(directory, "/routes")) as ApiDocument)
    : undefined;
}

function valueOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1] ?? 0);
}
