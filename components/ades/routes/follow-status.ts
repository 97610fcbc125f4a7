import type { FastifyReply, FastifyRequest } from "fastify";

import { listSteps, sumUsage } from "../store/job-records.ts";
import { findJob } from "../store/jobs.ts";
import type { ApiContext, ApiBase } from "./context.ts";
import { sendEvents } from "./event-stream.ts";
import { toStep } from "./job-records.ts";
import { toStatus } from "./job-status.ts";

/** Milliseconds between looks at a job. */
const PAUSE = 300;

/**
 * The status of a job as server-sent events: `status` now and whenever it changed, `step` for each step that did, and `end` with the
 * last status.
 */
export async function followStatus(
  { db, streams, closing }: ApiContext,
  { apiBase, id }: { readonly apiBase: ApiBase; readonly id: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const told = new Map<string, string>();
  await sendEvents(request, reply, { streams, user: apiBase.user, closing }, async ({ signal, send, pause }) => {
    const tell = async (event: string, key: string, body: unknown) => {
      const text = JSON.stringify(body);
      if (told.get(key) !== text) {
        told.set(key, text);
        await send(event, body);
      }
    };
    while (!signal.aborted) {
      const job = await findJob(db, apiBase.user, id);
      if (job === undefined) {
        await send("end", { id, status: "dismissed" });
        return;
      }
      for (const step of await listSteps(db, job.id)) {
        await tell("step", `step ${step.name}`, toStep(step));
      }
      const isOver = job.finished_at !== null;
      const status = toStatus(job, apiBase, isOver ? await sumUsage(db, job.id) : undefined);
      if (isOver) {
        await send("end", status);
        return;
      }
      await tell("status", "status", status);
      await pause(PAUSE);
    }
  });
}
