import { CwlError, type JobSpec } from "@swath/cwl";
import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";
import { createBackOff } from "@swath/work";
import { setTimeout as sleep } from "node:timers/promises";

import { shorten } from "./pod-wait-reason.ts";
import { podsPath } from "./watch-pod.ts";

interface CreateOptions {
  readonly job: JobSpec;
  /** Seconds to wait for room below the namespace's quota. */
  readonly timeouts: number;
  readonly signal: AbortSignal;
  readonly onLog: (text: string) => void;
}

/** Milliseconds for which an API server that does not answer is asked again. */
const OUTAGE = 60_000;
const whileAway = createBackOff({ firstSeconds: 0.25, maxSeconds: 5 });
const whileFull = createBackOff({ firstSeconds: 2, maxSeconds: 5 });
const untilRemoved = createBackOff({ firstSeconds: 0.4, maxSeconds: 5, maxAttempts: 8 });

/** Makes a pod; waits for the namespace's quota and through short outages of the API server. */
export async function createPod(api: ClusterApi, manifest: object, options: CreateOptions): Promise<void> {
  const { job, timeouts, signal, onLog } = options;
  const started = Date.now();
  let attempts = 0;
  let toldQuota = false;
  let toldOutage = false;
  for (;;) {
    let backOff = whileAway;
    attempts += 1;
    try {
      await api.create(podsPath(api.namespace), manifest);
      return;
    } catch (error) {
      if (!(error instanceof ClusterApiError)) {
        if (Date.now() - started > OUTAGE) {
          throw error;
        }
      } else if (error.reason === "AlreadyExists") {
        // An earlier request was carried out, and its answer was lost: nobody else knows the name.
        return;
      } else if (error.status === 403 && error.message.includes("exceeded quota")) {
        if (Date.now() - started > timeouts * 1000) {
          throw new CwlError(
            "infrastructure",
            `${job.name}: the namespace's quota left no room: ${shorten(error.message)}`,
          );
        }
        if (!toldQuota) {
          onLog("cluster: waiting for room: the namespace's quota is used up\n");
          toldQuota = true;
        }
        backOff = whileFull;
      } else if (error.status === 400 || error.status === 422) {
        throw new CwlError("unsupported", `${job.name}: the cluster does not take it: ${shorten(error.message)}`);
      } else if (error.status < 429 || Date.now() - started > OUTAGE) {
        throw error;
      } else if (!toldOutage) {
        onLog(`cluster: it does not take the pod at the moment, trying again: ${shorten(error.message)}\n`);
        toldOutage = true;
      }
      await sleep(backOff(attempts) * 1000, undefined, { signal });
    }
  }
}

/** Milliseconds that a pod may take to end after it was asked to; then the cluster forgets it, and its node ends it later. */
const TIMEOUT = 10_000;

/** Ends and deletes a pod, and waits until it is gone; one that `hasEnded` leaves nothing to wait for. */
export async function removePod(api: ClusterApi, name: string, { hasEnded = false } = {}): Promise<void> {
  const path = `${podsPath(api.namespace)}/${name}`;
  if (hasEnded) {
    await retry(() => api.remove(path, { gracePeriodSeconds: 0 }));
    return;
  }
  const exists = await retry(() => api.remove(path, { gracePeriodSeconds: 1 }));
  const requested = Date.now();
  for (let pause = 50; exists && (await retry(() => api.get(path))) !== undefined; pause = Math.min(pause * 2, 500)) {
    if (Date.now() - requested > TIMEOUT) {
      await retry(() => api.remove(path, { gracePeriodSeconds: 0 }));
      return;
    }
    await sleep(pause);
  }
}

/** Ends and deletes all pods with a label. */
export async function removePods(api: ClusterApi, labelSelector: string): Promise<void> {
  const list = await retry(() =>
    api.get<{ items: readonly { metadata: { name: string } }[] }>(podsPath(api.namespace), { labelSelector }),
  );
  await Promise.all((list?.items ?? []).map(({ metadata }) => removePod(api, metadata.name)));
}

/** What has to be cleaned up is not left because the API server is being started again. */
async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isRefusal = error instanceof ClusterApiError && error.status < 429;
      const seconds = untilRemoved(attempt);
      if (isRefusal || seconds === undefined) {
        throw error;
      }
      await sleep(seconds * 1000);
    }
  }
}
