import { setTimeout as sleep } from "node:timers/promises";

import { findRegistration } from "../store/deliveries.ts";
import type { Job } from "../store/jobs.ts";
import type { ApiContext } from "./context.ts";

/** Who reads that a job is successful finds its results in the catalogue, unless that takes longer than this. */
const MAX_WAIT_MS = 15_000;
const POLL_INTERVAL_MS = 25;

/**
 * Where the results of a job are in the catalogue of its owner's workspace. Of a job that has just ended this is waited for.
 * @returns the address of the collection; `undefined` where they are in none, or not yet
 */
export async function awaitRegistration({ db, closing }: ApiContext, job: Job): Promise<string | undefined> {
  if (job.status !== "successful") {
    return undefined;
  }
  const deadline = (job.finished_at?.getTime() ?? 0) + MAX_WAIT_MS;
  for (;;) {
    const registration = await findRegistration(db, job.id);
    if (registration?.isWaiting !== true || Date.now() > deadline || closing.aborted) {
      return registration?.target;
    }
    await sleep(POLL_INTERVAL_MS);
  }
}
