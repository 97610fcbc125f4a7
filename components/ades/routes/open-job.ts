import type { FastifyRequest } from "fastify";

import { noSuchJob } from "../errors.ts";
import { type Job, findJob } from "../store/jobs.ts";
import { type ApiContext, type ApiFlavor, apiPathOf } from "./context.ts";

/** The job that a request names. @throws {OgcError} 404 */
export async function openJob({ db }: ApiContext, request: FastifyRequest, apiFlavor: ApiFlavor): Promise<Job> {
  const { id } = request.params as { id: string };
  const job = await findJob(db, apiPathOf(request, apiFlavor).user, id);
  if (job === undefined) {
    throw noSuchJob(id);
  }
  return job;
}
