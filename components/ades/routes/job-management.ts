import type { FastifyInstance, FastifyRequest } from "fastify";

import { OgcError, invalidParameter } from "../errors.ts";
import { maskSecrets } from "../results/mask-secrets.ts";
import { changeCreatedJob, insertJob, startCreatedJob } from "../store/jobs.ts";
import { findVersion } from "../store/processes.ts";
import type { JobRequest } from "../store/tables.ts";
import { type ApiContext, type Face, type Space, enterSpace, locationOf, packageOf } from "./context.ts";
import { checkSubscriber, findExecutable, prepareJob } from "./execution.ts";
import { toStatus } from "./job-status.ts";
import { openJob } from "./open-job.ts";
import { checkQuota } from "./quota.ts";
import { readExecute } from "./read-execute.ts";
import * as schemas from "./schemas/job-management.ts";

/** Jobs that are made first and started later (OGC API Processes Part 4, draft: requirements class job management). */
export function addJobManagementRoutes(app: FastifyInstance, context: ApiContext, face: Face): void {
  const { db } = context;
  const path = `/:user/${face}/jobs`;

  app.post(path, { schema: schemas.createJob }, async (request, reply) => {
    const space = enterSpace(context, request, face);
    const { processId, version, asked, needs } = await readJob(context, space, request, readProcessName(request.body));
    const job = await insertJob(db, {
      owner: space.user,
      processId,
      version,
      request: asked,
      needs,
      status: "created",
    });
    return reply
      .code(201)
      .header("location", `${locationOf(space)}/jobs/${job.id}`)
      .send(toStatus(job, space));
  });

  app.patch(`${path}/:id`, { schema: schemas.updateJob }, async (request, reply) => {
    const space = enterSpace(context, request, face);
    const job = await openJob(context, request, face);
    if (job.status !== "created") {
      throw locked(job.status);
    }
    // What is not said stays as it was.
    const { register: _register, ...former } = job.request as unknown as JobRequest;
    const body = requireObject(request.body);
    const name = "process" in body ? readProcessName(body) : toName(job.process_id, job.process_version);
    const { processId, version, asked, needs } = await readJob(
      context,
      space,
      { headers: request.headers, body: { ...former, ...body } },
      name,
    );
    if (!(await changeCreatedJob(db, job.id, { processId, version, request: asked, needs }))) {
      throw locked("accepted");
    }
    return reply.code(204).send();
  });

  app.post(`${path}/:id/results`, { schema: schemas.startJob }, async (request, reply) => {
    const space = enterSpace(context, request, face);
    const { id, status } = await openJob(context, request, face);
    if (status !== "created") {
      throw locked(status);
    }
    await checkQuota(db, context.settings, space.user, reply);
    const job = await startCreatedJob(db, id);
    if (job === undefined) {
      throw locked("accepted");
    }
    return reply
      .code(200)
      .header("location", `${locationOf(space)}/jobs/${id}`)
      .send(toStatus(job, space));
  });

  app.get(`${path}/:id/definition`, { schema: schemas.readDefinition }, async (request) => {
    const space = enterSpace(context, request, face);
    const job = await openJob(context, request, face);
    const { inputs, register: _register, ...rest } = job.request as unknown as JobRequest;
    const process = await findVersion(db, job.owner, job.process_id, job.process_version);
    const facts = process && (await context.packages.read("facts", job.owner, packageOf(process)));
    return {
      process: `${space.url}/processes/${encodeURIComponent(job.process_id)}`,
      inputs: maskSecrets(inputs, facts?.secrets ?? []),
      ...rest,
    };
  });
}

const toName = (id: string, version: number): string => (version === 0 ? id : `${id}:${version}`);

/** What a request makes of a job, checked as an execute request is. @throws {OgcError} 400, 404 */
async function readJob(
  context: ApiContext,
  { user }: Space,
  request: Pick<FastifyRequest, "body" | "headers">,
  name: string,
) {
  const { process, description } = await findExecutable(context, user, name);
  const { job: asked } = readExecute(request, Object.keys(description.outputs));
  checkSubscriber(context, asked);
  return prepareJob(context, user, process, asked);
}

/** `process`: the address of a process, or its id. @throws {OgcError} 400 */
function readProcessName(body: unknown): string {
  const { process, id } = requireObject(body);
  const given = process ?? id;
  if (typeof given !== "string" || given === "") {
    throw invalidParameter(
      'process is missing: the address of the process, {"process": "https://…/processes/…", "inputs": {…}}.',
    );
  }
  const last = given.replace(/^.*\/processes\//, "").replace(/\/execution$/, "");
  return decodeURIComponent(last);
}

function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalidParameter('The body must be a JSON object: {"process": "…", "inputs": {…}}.');
  }
  return body as Readonly<Record<string, unknown>>;
}

const locked = (status: string) =>
  new OgcError(423, "Locked", `The job is ${status}; only one that is created can be changed or started.`, {
    type: "http://www.opengis.net/def/exceptions/ogcapi-processes-4/1.0/locked",
  });
