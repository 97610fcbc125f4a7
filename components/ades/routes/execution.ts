import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { invalidParameter, noSuchProcess } from "../errors.ts";
import { checkExecution } from "../execution/check-execution.ts";
import { checkInputAccess } from "../execution/check-input-access.ts";
import { checkResultPlace } from "../execution/check-result-place.ts";
import { allowedPrivate } from "../execution/storage.ts";
import { ECHO } from "../packages/echo.ts";
import { executeEcho, pauseOf } from "../packages/execute-echo.ts";
import { findConstraintProblems } from "../packages/input-constraints.ts";
import { refuseProblems } from "../packages/input-problems.ts";
import type { ProcessDescription } from "../packages/describe.ts";
import { createAddressGuard } from "../staging/in/addresses.ts";
import { insertEndedJob } from "../store/ended-job.ts";
import { isOpen } from "../store/job-states.ts";
import { type Job, findJob, insertJob } from "../store/jobs.ts";
import type { StoredProcess } from "../store/processes.ts";
import type { JobRequest } from "../store/tables.ts";
import { type ApiContext, type ApiFlavor, type ApiBase, resolveApiBase, locationOf, packageOf } from "./context.ts";
import { findDeployed } from "./find-deployed.ts";
import { toStatus } from "./job-status.ts";
import { readExecute } from "./read-execute.ts";
import { checkQuota } from "./quota.ts";
import { sendResults } from "./results.ts";
import * as schemas from "./schemas/processes.ts";

/** Milliseconds after which a synchronous request is answered with the job instead of its result. */
const MAX_WAIT = 10 * 60_000;

/** Executing a process (OGC 18-062r2 §7.11). */
export function addExecutionRoutes(app: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  const path = `/:user/${apiFlavor}/processes/:id/execution`;
  app.post(path, { schema: schemas.execute }, async (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const { id } = request.params as { id: string };
    const { process, description } = await findExecutable(context, apiBase.user, id);
    const { outputs, jobControlOptions } = description;
    const { job: requested, isAsync: wantsAsync, wait, applied } = readExecute(request, Object.keys(outputs));
    // The process decides where it can be executed in one way only (OGC 18-062r2 /req/core/job-creation-auto-execution-mode).
    const isAsync = jobControlOptions.includes("sync-execute")
      ? wantsAsync && jobControlOptions.includes("async-execute")
      : true;
    checkSubscriber(context, requested);
    await checkQuota(context.db, context.settings, apiBase.user, reply);
    const job = await startJob(context, apiBase.user, process, requested);
    if (applied.length > 0) {
      void reply.header("preference-applied", applied.join(", "));
    }
    if (isAsync) {
      return sendJob(job, apiBase, reply);
    }
    const timeout = Math.min(wait === undefined ? MAX_WAIT : wait * 1000, MAX_WAIT);
    return sendWhenEnded(context, { job, apiBase, timeout }, request, reply);
  });
}

/** A process that can be executed; the built-in one has no row. @throws {OgcError} 404 */
export async function findExecutable(
  context: ApiContext,
  user: string,
  id: string,
): Promise<{ readonly process: StoredProcess | undefined; readonly description: ProcessDescription }> {
  const process = id === ECHO.id ? undefined : await findDeployed(context, user, id);
  if (process === undefined && id !== ECHO.id) {
    throw noSuchProcess(id);
  }
  return { process, description: process === undefined ? ECHO : (process.description as ProcessDescription) };
}

/** What a request makes of a job. What cannot work is refused now, not by a job that fails later. @throws {OgcError} */
export async function prepareJob(
  { db, settings, packages, storageOf }: ApiContext,
  owner: string,
  process: StoredProcess | undefined,
  requested: JobRequest,
) {
  if (process === undefined) {
    await executeEcho(settings, requested.inputs);
    return { processId: ECHO.id, version: 0, asked: requested, needs: { cores: 0.1, ramMiB: 64, wishRamMiB: 64 } };
  }
  const facts = await packages.read("facts", owner, packageOf(process));
  const { needs, sources } = checkExecution(settings, facts, { owner, process: process.id, inputs: requested.inputs });
  refuseProblems(findConstraintProblems((process.description as ProcessDescription).inputs, requested.inputs));
  await checkResultPlace(settings, storageOf, owner);
  await checkInputAccess({ db, settings }, owner, sources);
  const registers = settings.REGISTER_RESULTS === "true" && settings.WORKSPACE_URL !== undefined;
  return {
    processId: process.id,
    version: process.version,
    asked: { ...requested, ...(registers && { register: true as const }) },
    needs,
  };
}

/** A job that waits for its turn; of the built-in process one that has ended already. */
async function startJob(
  context: ApiContext,
  owner: string,
  process: StoredProcess | undefined,
  requested: JobRequest,
): Promise<Job> {
  const { db, settings } = context;
  // An echo that takes time waits for its turn as any other process does.
  if (process === undefined && pauseOf(requested.inputs) === 0) {
    const outputs = await executeEcho(settings, requested.inputs);
    return insertEndedJob(db, { owner, processId: ECHO.id, request: requested, result: { outputs } });
  }
  const { processId, version, asked: request, needs } = await prepareJob(context, owner, process, requested);
  return insertJob(db, { owner, processId, version, request, needs });
}

const sendJob = (job: Job, apiBase: ApiBase, reply: FastifyReply): FastifyReply =>
  reply
    .code(201)
    .header("location", `${locationOf(apiBase)}/jobs/${job.id}`)
    .type("application/json")
    .send(toStatus(job, apiBase));

interface Waiting {
  readonly job: Job;
  readonly apiBase: ApiBase;
  /** Milliseconds. */
  readonly timeout: number;
}

async function sendWhenEnded(
  context: ApiContext,
  { job, apiBase, timeout }: Waiting,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (job.finished_at === null) {
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    await context.untilEnded(job.id, AbortSignal.any([AbortSignal.timeout(timeout), gone.signal, context.closing]));
  }
  const ended = job.finished_at === null ? ((await findJob(context.db, apiBase.user, job.id)) ?? job) : job;
  if (isOpen(ended.status)) {
    return sendJob(ended, apiBase, reply);
  }
  void reply.header("link", `<${apiBase.url}/jobs/${job.id}>; rel=monitor`);
  return sendResults(context, ended, apiBase, request, reply);
}

/** Addresses that will never be told are refused now; names are looked up when there is something to tell. */
export function checkSubscriber({ settings }: ApiContext, { subscriber = {} }: JobRequest): void {
  const guard = createAddressGuard(allowedPrivate(settings));
  for (const [name, uri] of Object.entries(subscriber)) {
    try {
      guard.checkHost(new URL(uri as string).hostname, uri as string);
    } catch (error) {
      throw invalidParameter(`subscriber.${name} cannot be told: ${(error as Error).message}`);
    }
  }
}
