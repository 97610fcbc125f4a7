import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { setTimeout as sleep } from "node:timers/promises";

import { OgcError, invalidParameter, noSuchJob, noSuchProcess, resultNotReady } from "../errors.ts";
import { checkExecution } from "../execution/check-execution.ts";
import { ECHO, echo } from "../packages/echo.ts";
import { listLog, listSteps } from "../store/job-records.ts";
import { type Job, type JobFilter, dismissJob, findJob, insertJob, listJobs } from "../store/jobs.ts";
import { findProcess } from "../store/processes.ts";
import { JOB_STATUSES, type JobRequest, type JobResult, type JobStatus } from "../store/tables.ts";
import { type ApiContext, type Face, type Space, link, spaceOf } from "./context.ts";
import { readPage } from "./processes.ts";

const RESULTS = "http://www.opengis.net/def/rel/ogc/1.0/results";
/** Milliseconds after which a synchronous request is answered with the job instead of its result. */
const LONGEST_WAIT = 10 * 60_000;

interface ExecuteBody {
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly response?: string;
  readonly mode?: string;
}

/** Executing and everything about jobs (OGC 18-062r2 §7.11 to §7.15). */
export function addJobRoutes(app: FastifyInstance, context: ApiContext, face: Face): void {
  const { db } = context;
  const tags = ["jobs"];
  const base = `/:user/${face}`;
  const open = async (request: FastifyRequest): Promise<Job> => {
    const { id } = request.params as { id: string };
    const job = await findJob(db, spaceOf(request, face).user, id);
    if (job === undefined) {
      throw noSuchJob(id);
    }
    return job;
  };

  app.post(`${base}/processes/:id/execution`, { schema: { tags, summary: "Execute a process" } }, (request, reply) =>
    execute(context, spaceOf(request, face), request, reply),
  );

  app.get(`${base}/jobs`, { schema: { tags, summary: "Jobs, the latest first" } }, async (request) => {
    const space = spaceOf(request, face);
    const filter = readFilter(request);
    const { jobs, total } = await listJobs(db, space.user, filter);
    const { limit, skip } = filter;
    return {
      jobs: jobs.map((job) => toStatus(job, space)),
      links: [
        link(`${space.base}/jobs`, "self", "Jobs"),
        ...(skip + jobs.length < total
          ? [link(`${space.base}/jobs?limit=${limit}&skip=${skip + limit}`, "next", "Next page")]
          : []),
      ],
      numberTotal: total,
    };
  });

  app.get(`${base}/jobs/:id`, { schema: { tags, summary: "Status of a job" } }, async (request) =>
    toStatus(await open(request), spaceOf(request, face)),
  );

  for (const name of ["result", "results"]) {
    app.get(`${base}/jobs/:id/${name}`, { schema: { tags, summary: "What came of a job" } }, async (request) =>
      toResult(await open(request), face),
    );
  }

  app.delete(
    `${base}/jobs/:id`,
    { schema: { tags, summary: "Stop a job, or forget one that has ended" } },
    async (request) => {
      const space = spaceOf(request, face);
      const { id } = request.params as { id: string };
      const job = await dismissJob(db, space.user, id);
      if (job === undefined) {
        throw noSuchJob(id);
      }
      return toStatus(job, space);
    },
  );

  app.get(
    `${base}/jobs/:id/inputs`,
    { schema: { tags, summary: "What a job was given" } },
    async (request) => (await open(request)).request,
  );
  app.get(`${base}/jobs/:id/steps`, { schema: { tags, summary: "Steps of a job" } }, async (request) => ({
    steps: (await listSteps(db, (await open(request)).id)).map((step) => ({
      name: step.name === "" ? "(whole process)" : step.name,
      status: step.status,
      ...(step.exit_code !== null && { exitCode: step.exit_code }),
      ...(step.message !== null && { message: step.message }),
      started: step.started_at?.toISOString() ?? null,
      finished: step.finished_at?.toISOString() ?? null,
    })),
  }));
  app.get(
    `${base}/jobs/:id/logs`,
    { schema: { tags, summary: "Log of a job; as a stream with Accept: text/event-stream" } },
    async (request, reply) => {
      const { id } = await open(request);
      if (request.headers.accept?.includes("text/event-stream")) {
        return followLog(context, id, request, reply);
      }
      const lines = await listLog(db, id, "0");
      return reply
        .type("text/plain; charset=utf-8")
        .send(lines.map(({ text }) => (text.endsWith("\n") ? text : `${text}\n`)).join(""));
    },
  );
}

async function execute(
  context: ApiContext,
  space: Space,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { db } = context;
  const { id } = request.params as { id: string };
  const { inputs = {}, response = "raw", mode } = readBody(request.body);
  if (id === ECHO.id) {
    return echo(Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, value])));
  }
  const process = await findProcess(db, space.user, id);
  if (process === undefined) {
    throw noSuchProcess(id);
  }
  // What cannot work is refused now, not by a job that fails later.
  const needs = await checkExecution(context.settings, process, inputs);
  const job = await insertJob(db, {
    owner: space.user,
    processId: id,
    version: process.version,
    request: { inputs, response: response === "document" ? "document" : "raw" },
    needs,
  });
  const location = `${space.base}/jobs/${job.id}`;
  const prefersAsync = /respond-async/.test(String(request.headers["prefer"] ?? "")) || mode === "async";
  if (prefersAsync) {
    return reply.code(201).headers({ location, "preference-applied": "respond-async" }).send(toStatus(job, space));
  }
  await context.untilEnded(job.id, AbortSignal.timeout(LONGEST_WAIT));
  const ended = (await findJob(db, space.user, job.id)) ?? job;
  if (ended.status === "accepted" || ended.status === "running") {
    return reply.code(201).header("location", location).send(toStatus(ended, space));
  }
  void reply.header("link", `<${location}>; rel="monitor"`);
  return toResult(ended, space.face);
}

function readBody(body: unknown): ExecuteBody {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalidParameter('The body must be a JSON object: {"inputs": {…}}.');
  }
  const { inputs, response, mode } = body as Record<string, unknown>;
  if (inputs !== undefined && (typeof inputs !== "object" || inputs === null || Array.isArray(inputs))) {
    throw invalidParameter("inputs must be an object of names and values.");
  }
  if (response !== undefined && response !== "raw" && response !== "document") {
    throw invalidParameter(`response is ${JSON.stringify(response)}; allowed: raw, document.`);
  }
  return {
    ...(inputs && { inputs: inputs as Record<string, unknown> }),
    ...(response !== undefined && { response }),
    ...(typeof mode === "string" && { mode }),
  };
}

/** Status info (OGC 18-062r2 §7.12.2). */
function toStatus(job: Job, { base }: Space) {
  const href = `${base}/jobs/${job.id}`;
  return {
    jobID: job.id,
    processID: job.process_id,
    type: "process",
    status: job.status,
    message: job.message ?? "",
    progress: job.progress,
    created: job.created_at.toISOString(),
    ...(job.started_at !== null && { started: job.started_at.toISOString() }),
    updated: job.updated_at.toISOString(),
    ...(job.finished_at !== null && { finished: job.finished_at.toISOString() }),
    links: [
      link(href, "self", "Status of the job"),
      link(href, "monitor", "Status of the job"),
      link(`${href}/logs`, "related", "Log of the job", "text/plain"),
      ...(job.status === "successful" ? [link(`${href}/results`, RESULTS, "Results of the job")] : []),
    ],
  };
}

/** The results, in the form of each face: where the catalogue is, or the STAC collection itself. */
function toResult(job: Job, face: Face): unknown {
  const status = job.status as JobStatus;
  if (status === "accepted" || status === "running") {
    throw resultNotReady(status);
  }
  if (status !== "successful" || job.result === null) {
    throw new OgcError(500, "NoApplicableCode", job.message ?? `The job is ${status}.`);
  }
  const { outputs, catalogUri, collection } = job.result as unknown as JobResult;
  const { response } = job.request as unknown as JobRequest;
  if (face === "wps3" && catalogUri !== undefined) {
    return { StacCatalogUri: catalogUri };
  }
  if (collection !== undefined) {
    const [name = "result"] = Object.keys(outputs);
    return response === "document" ? { [name]: { value: collection } } : collection;
  }
  return Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => [name, response === "document" ? { value } : value]),
  );
}

/** Filters of the job list (OGC 18-062r2 §11). @throws {OgcError} 400 naming the filter and what is allowed */
function readFilter(request: FastifyRequest): JobFilter {
  const query = request.query as Record<string, string | readonly string[] | undefined>;
  const listOf = (name: string) => [query[name] ?? []].flat().flatMap((text) => String(text).split(","));
  const refuse = (name: string, value: string, allowed: string): never => {
    throw new OgcError(400, "InvalidQueryParameterValue", `${name} is ${JSON.stringify(value)}; allowed: ${allowed}.`, {
      type: "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/invalid-query-parameter-value",
    });
  };
  const statuses = listOf("status").map((status) =>
    (JOB_STATUSES as readonly string[]).includes(status)
      ? (status as JobStatus)
      : refuse("status", status, JOB_STATUSES.join(", ")),
  );
  for (const type of listOf("type")) {
    if (type !== "process") {
      refuse("type", type, "process");
    }
  }
  const secondsOf = (name: string) => {
    const [text] = listOf(name);
    return text === undefined ? undefined : /^\d+$/.test(text) ? Number(text) : refuse(name, text, "seconds");
  };
  const [interval] = listOf("datetime");
  const [start, end] =
    interval === undefined ? [] : interval.includes("/") ? interval.split("/") : [interval, interval];
  const dateOf = (text: string | undefined) => {
    if (text === undefined || text === "" || text === "..") {
      return undefined;
    }
    const date = new Date(text);
    return Number.isNaN(date.getTime())
      ? refuse("datetime", text, "2026-11-21T00:00:00Z, or an interval with / and ..")
      : date;
  };
  const [from, to] = [dateOf(start), dateOf(end)];
  const [minDuration, maxDuration] = [secondsOf("minDuration"), secondsOf("maxDuration")];
  return {
    processIds: listOf("processID"),
    statuses,
    ...(from && { from }),
    ...(to && { to }),
    ...(minDuration !== undefined && { minDuration }),
    ...(maxDuration !== undefined && { maxDuration }),
    ...readPage(request),
  };
}

/** The log as server-sent events, what is there first, until the job has ended and everything was sent. */
async function followLog({ db }: ApiContext, id: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" });
  let after = "0";
  let gone = false;
  request.raw.once("close", () => (gone = true));
  while (!gone) {
    const job = await db.selectFrom("job").select("status").where("id", "=", id).executeTakeFirst();
    const lines = await listLog(db, id, after);
    for (const { id: line, step, text } of lines) {
      after = line;
      raw.write(`id: ${line}\nevent: log\ndata: ${JSON.stringify({ step, text })}\n\n`);
    }
    if (lines.length === 0 && job?.status !== "accepted" && job?.status !== "running") {
      raw.write(`event: end\ndata: ${JSON.stringify({ status: job?.status ?? "dismissed" })}\n\n`);
      break;
    }
    if (lines.length === 0) {
      await sleep(500);
    }
  }
  raw.end();
}
