import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { noSuchJob } from "../errors.ts";
import { jobListPage, jobPage } from "../pages/job-pages.ts";
import { countJobs, listJobs } from "../store/job-list.ts";
import { listSteps, sumUsage } from "../store/job-records.ts";
import { type Job, dismissJob } from "../store/jobs.ts";
import { answer, formOf } from "./answer.ts";
import { awaitRegistration } from "./await-registration.ts";
import { type ApiContext, type ApiFlavor, resolveApiBase } from "./context.ts";
import { followStatus } from "./follow-status.ts";
import { toStep } from "./job-records.ts";
import { toStatus } from "./job-status.ts";
import { openJob } from "./open-job.ts";
import { pageLinks } from "./page-links.ts";
import { readPreferences, readWait } from "./read-preferences.ts";
import { readCursor, readFilter, readPage, writeCursor } from "./read-query.ts";
import * as schemas from "./schemas/jobs.ts";

/** Jobs of a list when nobody says how many. */
const USUAL_PAGE = 100;
/** Most seconds that a request for a status waits for the end of the job: what is between here and the client has limits of its own. */
const MAX_WAIT = 60;

/** The job list, the status of a job, and dismissing it (OGC 18-062r2 §7.12, §11, §13). */
export function addJobRoutes(app: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  const { db } = context;
  const path = `/:user/${apiFlavor}/jobs`;

  app.get(path, { schema: schemas.listJobs }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const filter = readFilter(request);
    const { limit, skip } = readPage(request, USUAL_PAGE);
    const cursor = readCursor(request);
    const [{ jobs, next, prev }, total] = await Promise.all([
      listJobs(db, apiBase.user, filter, { limit, skip: cursor === undefined ? skip : 0, ...(cursor && { cursor }) }),
      countJobs(db, apiBase.user, filter),
    ]);
    const body = {
      jobs: jobs.map((job) => toStatus(job, apiBase)),
      links: pageLinks(`${apiBase.url}/jobs`, request, "Jobs", {
        ...(next && { next: { limit, cursor: writeCursor(next) } }),
        ...(prev && { prev: { limit, cursor: writeCursor(prev) } }),
      }),
      ...(total !== undefined && { numberTotal: total }),
    };
    return answer(request, reply, body, (list, url) => jobListPage(list, apiBase, url));
  });

  app.get(`${path}/:id`, { schema: schemas.readJob }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    if (request.headers.accept?.includes("text/event-stream") === true) {
      return followStatus(context, { apiBase, id: (await openJob(context, request, apiFlavor)).id }, request, reply);
    }
    const job = await openJobThatEnds(context, request, reply, apiFlavor);
    const [usage, collection] = await Promise.all([sumUsage(db, job.id), awaitRegistration(context, job)]);
    const steps = formOf(request) === "html" ? (await listSteps(db, job.id)).map(toStep) : [];
    return answer(request, reply, toStatus(job, apiBase, usage, collection), (status, url) =>
      jobPage(status, steps, apiBase, url),
    );
  });

  app.delete(`${path}/:id`, { schema: schemas.dismissJob }, async (request) => {
    const { id } = request.params as { id: string };
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const withResults = context.settings.RESULT_RETENTION === "with-job";
    const job = await dismissJob(db, { owner: apiBase.user, id, withResults });
    if (job === undefined) {
      throw noSuchJob(id);
    }
    return toStatus(job, apiBase);
  });
}

/** The job that a request names; with `Prefer: wait=N` once it has ended, or after so many seconds as it is then. */
async function openJobThatEnds(
  context: ApiContext,
  request: FastifyRequest,
  reply: FastifyReply,
  apiFlavor: ApiFlavor,
): Promise<Job> {
  const wait = readWait(readPreferences(request));
  if (wait === undefined) {
    return openJob(context, request, apiFlavor);
  }
  const seconds = Math.min(wait, MAX_WAIT);
  const enough = new AbortController();
  reply.raw.once("close", () => enough.abort());
  const signal = AbortSignal.any([AbortSignal.timeout(seconds * 1000), enough.signal, context.closing]);
  // Listened to before it is looked at, so that an end in between is not missed.
  const ended = context.untilEnded((request.params as { id: string }).id.toLowerCase(), signal);
  try {
    const job = await openJob(context, request, apiFlavor);
    void reply.header("preference-applied", `wait=${seconds}`);
    if (job.finished_at !== null) {
      return job;
    }
    await ended;
    return await openJob(context, request, apiFlavor);
  } finally {
    enough.abort();
  }
}
