import { Agent, request } from "undici";

import { toStatus } from "../routes/job-status.ts";
import { publicApiBase } from "../routes/context.ts";
import { toDocument } from "../results/document.ts";
import { selectOutputs } from "../results/outputs.ts";
import { type AdesSettings, allowedPrivate } from "../execution/storage.ts";
import { createAddressGuard } from "../staging/in/addresses.ts";
import type { Delivery } from "../store/deliveries.ts";
import type { Job } from "../store/jobs.ts";
import type { JobRequest, JobResult } from "../store/tables.ts";

const SECONDS = 20;

/** Tells subscribers. Private addresses are refused as they are for inputs; redirects are not followed. */
export interface CallbackSender {
  /** @throws {Error} when the subscriber did not take it */
  readonly send: (delivery: Delivery, job: Job) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A subscriber that will never take it: not worth another attempt. */
export class RefusedForGoodError extends Error {
  override readonly name = "RefusedForGoodError";
}

export function createCallbackSender(settings: AdesSettings): CallbackSender {
  const guard = createAddressGuard(allowedPrivate(settings));
  const agent = new Agent({
    connections: 4,
    connect: { lookup: guard.lookup as never, timeout: SECONDS * 1000 },
    headersTimeout: SECONDS * 1000,
    bodyTimeout: SECONDS * 1000,
  });
  return {
    send: async ({ id, kind, target }, job) => {
      guard.checkHost(new URL(target).hostname, new URL(target).origin);
      const { statusCode, body } = await request(target, {
        method: "POST",
        dispatcher: agent,
        headers: {
          "content-type": "application/json",
          "user-agent": "swath-ades",
          // The same for each attempt, so that a subscriber can tell a repetition from something new.
          "idempotency-key": id,
        },
        body: JSON.stringify(toMessage(settings, kind, job)),
        signal: AbortSignal.timeout(SECONDS * 1000),
      });
      // Whatever it says is not for us; a little is read so that the connection can be used again.
      await body.dump({ limit: 16_384 });
      if (statusCode === 410) {
        throw new RefusedForGoodError("the subscriber answers 410: it is gone for good");
      }
      if (statusCode < 200 || statusCode > 299) {
        throw new Error(`the subscriber answers ${statusCode}`);
      }
    },
    close: () => agent.close(),
  };
}

/** The results for success; else the status (OGC 18-062r2 /req/callback/job-callback). */
function toMessage(settings: AdesSettings, kind: Delivery["kind"], job: Job): object {
  const space = publicApiBase(settings, job.owner);
  if (kind !== "success") {
    return toStatus(job, space);
  }
  const request = job.request as unknown as JobRequest;
  const result = job.result as unknown as JobResult;
  return toDocument(selectOutputs({ request, result, jobUrl: `${space.url}/jobs/${job.id}` }));
}
