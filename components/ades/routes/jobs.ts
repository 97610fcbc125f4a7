import type { FastifyInstance } from "fastify";

import { noSuchJob } from "../errors.ts";
import { jobListPage, jobPage } from "../pages/job-pages.ts";
import { countJobs, listJobs } from "../store/job-list.ts";
import { listSteps } from "../store/job-records.ts";
import { dismissJob } from "../store/jobs.ts";
import { answer, formOf } from "./answer.ts";
import { type ApiContext, type Face, enterSpace } from "./context.ts";
import { toStep } from "./job-records.ts";
import { toStatus } from "./job-status.ts";
import { openJob } from "./open-job.ts";
import { pageLinks } from "./page-links.ts";
import { readCursor, readFilter, readPage, writeCursor } from "./read-query.ts";
import * as schemas from "./schemas/jobs.ts";

/** Jobs of a list when nobody says how many. */
const USUAL_PAGE = 100;

/** The job list, the status of a job, and dismissing it (OGC 18-062r2 §7.12, §11, §13). */
export function addJobRoutes(app: FastifyInstance, context: ApiContext, face: Face): void {
  const { db } = context;
  const path = `/:user/${face}/jobs`;

  app.get(path, { schema: schemas.listJobs }, async (request, reply) => {
    const space = enterSpace(context, request, face);
    const filter = readFilter(request);
    const { limit, skip } = readPage(request, USUAL_PAGE);
    const cursor = readCursor(request);
    const [{ jobs, next, prev }, total] = await Promise.all([
      listJobs(db, space.user, filter, { limit, skip: cursor === undefined ? skip : 0, ...(cursor && { cursor }) }),
      countJobs(db, space.user, filter),
    ]);
    const body = {
      jobs: jobs.map((job) => toStatus(job, space)),
      links: pageLinks(`${space.url}/jobs`, request, "Jobs", {
        ...(next && { next: { limit, cursor: writeCursor(next) } }),
        ...(prev && { prev: { limit, cursor: writeCursor(prev) } }),
      }),
      ...(total !== undefined && { numberTotal: total }),
    };
    return answer(request, reply, body, (list, url) => jobListPage(list, space, url));
  });

  app.get(`${path}/:id`, { schema: schemas.readJob }, async (request, reply) => {
    const space = enterSpace(context, request, face);
    const job = await openJob(context, request, face);
    const steps = formOf(request) === "html" ? (await listSteps(db, job.id)).map(toStep) : [];
    return answer(request, reply, toStatus(job, space), (status, url) => jobPage(status, steps, space, url));
  });

  app.delete(`${path}/:id`, { schema: schemas.dismissJob }, async (request) => {
    const { id } = request.params as { id: string };
    const space = enterSpace(context, request, face);
    const withResults = context.settings.RESULT_RETENTION === "with-job";
    const job = await dismissJob(db, { owner: space.user, id, withResults });
    if (job === undefined) {
      throw noSuchJob(id);
    }
    return toStatus(job, space);
  });
}
