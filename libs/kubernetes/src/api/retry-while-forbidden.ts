import { setTimeout as sleep } from "node:timers/promises";

import { ClusterApiError } from "./cluster-api.ts";

/** Milliseconds that the namespace binder may take, which may just be starting anew. */
const BINDING_TIMEOUT = 30_000;

/** Does what a service may do in a namespace that was made a moment ago: the namespace binder gives it its rights there a little later. */
export async function retryWhileForbidden<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + BINDING_TIMEOUT; ; await sleep(100)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ClusterApiError && error.status === 403)) {
        throw error;
      }
      if (Date.now() > deadline) {
        const hint = "namespace-binder gives this right: its log says why it did not (swath logs namespace-binder)";
        throw new ClusterApiError(error.status, error.reason, `${error.message}; ${hint}`);
      }
    }
  }
}
