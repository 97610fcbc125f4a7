import { createPeer } from "@swath/service";

import type { AdesSettings } from "../execution/storage.ts";
import type { Job } from "../store/jobs.ts";
import type { JobResult } from "../store/tables.ts";
import { RefusedForGoodError } from "./send-callback.ts";

/**
 * Has the catalogue of a job's results registered in the workspace of the job's owner. The workspace API keeps the request until
 * the service that carries it out takes it.
 * @throws {Error} when it was not taken
 */
export async function registerResults(
  { WORKSPACE_URL: url, WORKSPACE_SECRET: secret }: AdesSettings,
  job: Job,
): Promise<void> {
  const { catalogUri } = (job.result ?? {}) as unknown as JobResult;
  if (url === undefined || secret === undefined || catalogUri === undefined) {
    throw new RefusedForGoodError("this deployment has no workspace API any more");
  }
  const peer = createPeer(url);
  try {
    const answer = await peer.fetch(`/users/${encodeURIComponent(job.owner)}/registrations`, {
      method: "POST",
      timeout: 10_000,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ type: "stac-item", url: catalogUri }),
    });
    const { detail } = (await answer.json()) as { detail?: string };
    if (answer.status === 404) {
      throw new RefusedForGoodError(detail ?? `${job.owner} has no workspace`);
    }
    if (!answer.ok) {
      throw new Error(detail ?? `the workspace API answers ${answer.status}`);
    }
  } finally {
    await peer.close();
  }
}
