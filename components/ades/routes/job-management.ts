import { decodePercent } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { OgcError, invalidParameter } from "../errors.ts";
import type { AdesSettings } from "../execution/storage.ts";
import { maskSecrets } from "../results/mask-secrets.ts";
import { changeCreatedJob, insertJob, startCreatedJob } from "../store/jobs.ts";
import { findVersion } from "../store/processes.ts";
import type { JobRequest } from "../store/tables.ts";
import { type ApiContext, type ApiFlavor, type ApiBase, resolveApiBase, locationOf, packageOf } from "./context.ts";
import { checkSubscriber, findExecutable, prepareJob } from "./execution.ts";
import { toStatus } from "./job-status.ts";
import { openJob } from "./open-job.ts";
import { checkQuota } from "./quota.ts";
import { readExecute } from "./read-execute.ts";
import * as schemas from "./schemas/job-management.ts";

const PROCESS_PATH = /^\/([^/]+)\/(?:ogc-api|wps3)\/processes\/([^/]+)(?:\/execution)?$/;

/** Jobs that are made first and started later (OGC API Processes Part 4, draft: requirements class job management). */
export function addJobManagementRoutes(app: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  const { db } = context;
  const path = `/:user/${apiFlavor}/jobs`;

  app.post(path, { schema: schemas.createJob }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const {
      processId,
      version,
      asked: requested,
      needs,
    } = await readJob(context, apiBase, request, readProcessName(request.body, apiBase, context.settings));
    const job = await insertJob(db, {
      owner: apiBase.user,
      processId,
      version,
      request: requested,
      needs,
      status: "created",
    });
    return reply
      .code(201)
      .header("location", `${locationOf(apiBase)}/jobs/${job.id}`)
      .send(toStatus(job, apiBase));
  });

  app.patch(`${path}/:id`, { schema: schemas.updateJob }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const job = await openJob(context, request, apiFlavor);
    if (job.status !== "created") {
      throw locked(job.status);
    }
    // What is not said stays as it was.
    const { register: _register, ...former } = job.request as unknown as JobRequest;
    const body = requireObject(request.body);
    const name =
      "process" in body
        ? readProcessName(body, apiBase, context.settings)
        : toName(job.process_id, job.process_version);
    const {
      processId,
      version,
      asked: requested,
      needs,
    } = await readJob(context, apiBase, { headers: request.headers, body: { ...former, ...body } }, name);
    if (!(await changeCreatedJob(db, job.id, { processId, version, request: requested, needs }))) {
      throw locked("accepted");
    }
    return reply.code(204).send();
  });

  app.post(`${path}/:id/results`, { schema: schemas.startJob }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const { id, status } = await openJob(context, request, apiFlavor);
    if (status !== "created") {
      throw locked(status);
    }
    await checkQuota(db, context.settings, apiBase.user, reply);
    const job = await startCreatedJob(db, id);
    if (job === undefined) {
      throw locked("accepted");
    }
    return reply
      .code(200)
      .header("location", `${locationOf(apiBase)}/jobs/${id}`)
      .send(toStatus(job, apiBase));
  });

  app.get(`${path}/:id/definition`, { schema: schemas.readDefinition }, async (request) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const job = await openJob(context, request, apiFlavor);
    const { inputs, register: _register, ...rest } = job.request as unknown as JobRequest;
    const process = await findVersion(db, job.owner, job.process_id, job.process_version);
    const facts = process && (await context.packages.read("facts", job.owner, packageOf(process)));
    return {
      process: `${apiBase.url}/processes/${encodeURIComponent(job.process_id)}`,
      inputs: maskSecrets(inputs, facts?.secrets ?? []),
      ...rest,
    };
  });
}

const toName = (id: string, version: number): string => (version === 0 ? id : `${id}:${version}`);

/** What a request makes of a job, checked as an execute request is. @throws {OgcError} 400, 404 */
async function readJob(
  context: ApiContext,
  { user }: ApiBase,
  request: Pick<FastifyRequest, "body" | "headers">,
  name: string,
) {
  const { process, description } = await findExecutable(context, user, name);
  const { job: requested } = readExecute(request, Object.keys(description.outputs));
  checkSubscriber(context, requested);
  return prepareJob(context, user, process, requested);
}

/** `process`: the address of a process in the caller's space, or its id. @throws {OgcError} 400 for one of another space or service */
function readProcessName(body: unknown, { user, url }: ApiBase, { PUBLIC_URL, OPEN_HOST }: AdesSettings): string {
  const { process, id } = requireObject(body);
  const provided = process ?? id;
  if (typeof provided !== "string" || provided === "") {
    throw invalidParameter(
      'process is missing: the address of the process, {"process": "https://…/processes/…", "inputs": {…}}.',
    );
  }
  if (!provided.includes("/")) {
    return decodePercent(provided);
  }
  const address = URL.parse(provided, PUBLIC_URL);
  const [, space = "", name = ""] = PROCESS_PATH.exec(address?.pathname ?? "") ?? [];
  const hosts = [new URL(PUBLIC_URL).hostname, new URL(url).hostname, OPEN_HOST?.toLowerCase()];
  if (address === null || !hosts.includes(address.hostname) || name === "" || decodePercent(space) !== user) {
    throw invalidParameter(
      `process must be a process of this space, ${url}/processes/…, not ${JSON.stringify(provided.slice(0, 200))}.`,
    );
  }
  return decodePercent(name);
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
