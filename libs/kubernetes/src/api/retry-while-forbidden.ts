import { setTimeout as sleep } from "node:timers/promises";

import { ClusterApiError } from "./cluster-api.ts";

/** Milliseconds that a new RoleBinding may take to be in force. */
const BINDING_TIMEOUT = 5000;

/** Does what a RoleBinding of a moment ago allows: the API server knows of it a little later. */
export async function retryWhileForbidden<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + BINDING_TIMEOUT; ; await sleep(100)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ClusterApiError && error.status === 403) || Date.now() > deadline) {
        throw error;
      }
    }
  }
}
