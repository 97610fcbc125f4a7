import type { ClusterApi } from "@swath/kubernetes/api";
import type { Logger } from "@swath/service";

import { openBlobStore, usesObjectStore } from "../../step-files/open-step-files.ts";
import { filesSecretOf } from "../../step-files/step-files.ts";
import type { AdesSettings } from "../storage.ts";
import { openPodsApi } from "./pod-context.ts";

/** Milliseconds for removing the files of one job. */
const REMOVAL_TIMEOUT_MS = 10 * 60_000;

/** Removes what a job that is over has in the object storage, and the Secret that opens it. What fails is left to the sweep. */
export async function removeStepFiles(settings: AdesSettings, job: string, logger: Logger): Promise<void> {
  if (!usesObjectStore(settings)) {
    return;
  }
  const api = openPodsApi(settings);
  try {
    await removeSecret(api, job);
    await openBlobStore(settings).removeJob(job, AbortSignal.timeout(REMOVAL_TIMEOUT_MS));
  } catch (error) {
    logger.warn({ job, err: error }, "failed to remove files of steps; the next start tries again");
  } finally {
    await api.close();
  }
}

/** The same for all jobs that are over. @returns how many there were */
export async function sweepStepFiles(
  settings: AdesSettings,
  api: ClusterApi,
  isRunning: (job: string) => boolean,
): Promise<number> {
  const store = openBlobStore(settings);
  const signal = AbortSignal.timeout(REMOVAL_TIMEOUT_MS);
  await store.open(signal);
  const over = (await store.listJobs(signal)).filter((job) => !isRunning(job));
  for (const job of over) {
    await removeSecret(api, job);
    await store.removeJob(job, signal);
  }
  return over.length;
}

const removeSecret = (api: ClusterApi, job: string): Promise<boolean> =>
  api.remove(`/api/v1/namespaces/${api.namespace}/secrets/${filesSecretOf(job)}`);
