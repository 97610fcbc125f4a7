import type { ClusterApi, WatchEvent } from "@swath/kubernetes/api";
import { ClusterApiError } from "@swath/kubernetes/api";
import { createBackOff } from "@swath/work";
import { setTimeout as sleep } from "node:timers/promises";

import { type Pod, hasStarted } from "./pod-types.ts";

export const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

/** A pod that has not begun is looked at again so often, because a long wait changes nothing that a watch would tell. */
const POLL_INTERVAL_MS = 5000;
/** Milliseconds without an answer of the API server after which a pod is given up. */
const IDLE_TIMEOUT_MS = 15 * 60_000;
const backOff = createBackOff({ firstSeconds: 0.2, maxSeconds: 5 });

/**
 * Every state of a pod, the present one first, until it is gone (`undefined`, the last). Goes on through restarts of the API
 * server.
 * @throws the last error when the API server stays away for a quarter of an hour, or refuses
 */
export async function* watchPod(
  api: ClusterApi,
  namespace: string,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Pod | undefined, void, undefined> {
  let answeredAt = Date.now();
  let failures = 0;
  for (;;) {
    const tick = new AbortController();
    try {
      const pod = await api.get<Pod>(`${podsPath(namespace)}/${name}`);
      answeredAt = Date.now();
      failures = 0;
      yield pod;
      if (pod === undefined) {
        return;
      }
      const timer = hasStarted(pod) ? undefined : setTimeout(() => tick.abort(), POLL_INTERVAL_MS);
      try {
        const query = { fieldSelector: `metadata.name=${name}`, resourceVersion: pod.metadata.resourceVersion };
        const events: AsyncIterable<WatchEvent<Pod>> = api.watch<Pod>(
          podsPath(namespace),
          query,
          AbortSignal.any([signal, tick.signal]),
        );
        for await (const { type, object } of events) {
          answeredAt = Date.now();
          if (type === "DELETED") {
            yield undefined;
            return;
          }
          if (type !== "BOOKMARK") {
            yield object;
          }
        }
      } finally {
        clearTimeout(timer);
      }
    } catch (error) {
      if (signal.aborted) {
        throw error;
      }
      if (tick.signal.aborted) {
        continue;
      }
      const isRefusal = error instanceof ClusterApiError && [400, 401, 403].includes(error.status);
      if (isRefusal || Date.now() - answeredAt > IDLE_TIMEOUT_MS) {
        throw error;
      }
      failures += 1;
      await sleep(backOff(failures) * 1000, undefined, { signal });
    }
  }
}
