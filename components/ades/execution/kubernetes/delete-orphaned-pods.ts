import type { ClusterApi } from "@swath/kubernetes/api";
import type { Logger } from "@swath/service";
import type { Kysely } from "kysely";

import { OPEN_STATUSES } from "../../store/job-states.ts";
import type { Tables } from "../../store/tables.ts";
import type { AdesSettings } from "../storage.ts";
import { removePod } from "./create-pod.ts";
import { usesObjectStore } from "../../step-files/open-step-files.ts";
import { openPodsApi } from "./pod-context.ts";
import { sweepStepFiles } from "./remove-step-files.ts";
import { type Pod, podKeys } from "./pod-types.ts";
import { podsPath } from "./watch-pod.ts";

/** When the service starts: ends the pods of jobs that are no longer to be done. Those of others are joined again. */
export async function deleteOrphanedPods(db: Kysely<Tables>, settings: AdesSettings, logger: Logger): Promise<void> {
  if (settings.EXECUTOR !== "pods") {
    return;
  }
  const api = openPodsApi(settings);
  try {
    const rows = await db.selectFrom("job").select("id").where("status", "in", OPEN_STATUSES).execute();
    const running = new Set(rows.map(({ id }) => id));
    const removed = await deleteOrphans(api, (job) => running.has(job));
    if (removed > 0) {
      logger.info({ removed }, "ended pods of tools whose jobs are over");
    }
    if (usesObjectStore(settings)) {
      // Not waited for: the object storage may be away, and the service is of use meanwhile.
      void sweepFiles(settings, (job) => running.has(job), logger);
    }
  } catch (error) {
    // Strays cost room, not correctness; the service is of use without this, and the next start tries again.
    logger.warn({ err: error }, "cannot look for pods that were left behind");
  } finally {
    await api.close();
  }
}

async function sweepFiles(settings: AdesSettings, isRunning: (job: string) => boolean, logger: Logger): Promise<void> {
  const api = openPodsApi(settings);
  try {
    const jobs = await sweepStepFiles(settings, api, isRunning);
    if (jobs > 0) {
      logger.info({ jobs }, "removed files of steps whose jobs are over");
    }
  } catch (error) {
    logger.warn({ err: error }, "failed to remove files of steps that were left behind");
  } finally {
    await api.close();
  }
}

/** Deletes the pods of tools whose jobs are not at work; gives how many there were. */
export async function deleteOrphans(api: ClusterApi, isRunning: (job: string) => boolean): Promise<number> {
  const list = await api.get<{ items: readonly Pod[] }>(podsPath(api.namespace), { labelSelector: podKeys.job });
  const orphans = (list?.items ?? []).filter(({ metadata }) => !isRunning(metadata.labels?.[podKeys.job] ?? ""));
  await Promise.all(orphans.map(({ metadata }) => removePod(api, metadata.name)));
  return orphans.length;
}
