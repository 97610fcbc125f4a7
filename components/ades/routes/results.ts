import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { OgcError, noSuchOutput, resultNotAvailable, resultNotReady } from "../errors.ts";
import { resultsPage } from "../pages/results-page.ts";
import { toDocument } from "../results/document.ts";
import { type Output, selectOutputs, withBrowserAddresses } from "../results/outputs.ts";
import { findOnlyFile, toBytes, toRaw } from "../results/raw.ts";
import { hasEnded } from "../store/job-states.ts";
import type { Job } from "../store/jobs.ts";
import type { JobFailure, JobRequest, JobResult } from "../store/tables.ts";
import { answer, formOf } from "./answer.ts";
import { type ApiContext, type ApiFlavor, type ApiBase, resolveApiBase } from "./context.ts";
import { openJob } from "./open-job.ts";
import { sendOutputFile } from "./send-output-file.ts";
import * as schemas from "./schemas/jobs.ts";

/** What came of a job, all of it or one output (OGC 18-062r2 §7.13). */
export function addResultRoutes(app: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  const path = `/:user/${apiFlavor}/jobs/:id`;
  const read = async (request: FastifyRequest, reply: FastifyReply) =>
    sendResults(
      context,
      await openJob(context, request, apiFlavor),
      resolveApiBase(context, request, apiFlavor),
      request,
      reply,
    );
  app.get(`${path}/results`, { schema: schemas.readResults }, read);
  app.get(`${path}/result`, { schema: { hide: true } }, read);

  app.get(`${path}/results/:output`, { schema: schemas.readOutput }, async (request, reply) => {
    const job = await openJob(context, request, apiFlavor);
    const { output: name } = request.params as { output: string };
    const { request: requested, result } = requireResult(job);
    if (!Object.hasOwn(result.outputs, name)) {
      throw noSuchOutput(name, Object.keys(result.outputs));
    }
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const [output] = selectOutputs({
      request: { ...requested, outputs: { [name]: {} } },
      result,
      jobUrl: `${apiBase.url}/jobs/${job.id}`,
    });
    if (output === undefined || output.value === undefined) {
      return sendOutputFile(context, { job, result, name }, request, reply);
    }
    // Never run as a page of the platform: a job's text is whatever its tool wrote.
    return reply
      .headers({ "content-security-policy": "sandbox; default-src 'none'", "x-content-type-options": "nosniff" })
      .type(output.mediaType)
      .send(toBytes(output));
  });
}

/** Sends the results of a job that has ended, in the form that was asked for when it was executed. @throws {OgcError} */
export async function sendResults(
  context: ApiContext,
  job: Job,
  apiBase: ApiBase,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { request: requested, result } = requireResult(job);
  const outputs = selectOutputs({ request: requested, result, jobUrl: `${apiBase.url}/jobs/${job.id}` });
  if (formOf(request) === "html") {
    const document = withBrowserAddresses(toDocument(outputs), result, `${apiBase.url}/jobs/${job.id}`) as object;
    return answer(request, reply, document, (body, url) => resultsPage({ ...body }, job, apiBase, url));
  }
  if (outputs.length === 0 && requested.outputs !== undefined && Object.keys(requested.outputs).length === 0) {
    // Executed, and nothing of it was asked for.
    return reply.type("application/json").send({});
  }
  if (outputs.length === 0) {
    throw resultNotAvailable();
  }
  if (apiBase.apiFlavor === "wps3") {
    return reply.type("application/json").send(toEarlierDocument(outputs, result, requested));
  }
  if (requested.response === "document") {
    return reply.type("application/json").send(toDocument(outputs));
  }
  const file = findOnlyFile(outputs);
  if (file !== undefined) {
    return sendOutputFile(context, { job, result, name: file.name }, request, reply);
  }
  const { status, headers, body } = toRaw(outputs);
  const monitor = reply.getHeader("link") as string | undefined;
  const links = [monitor ?? [], headers["link"] ?? []].flat();
  return reply
    .code(status)
    .headers(headers as Record<string, string>)
    .headers(links.length > 0 ? { link: links } : {})
    .header("x-content-type-options", "nosniff")
    .send(body);
}

/** The earlier face answers with one JSON document always: where the catalogue is, else names and values. */
function toEarlierDocument(outputs: readonly Output[], { catalogUri }: JobResult, { response }: JobRequest): object {
  if (catalogUri !== undefined) {
    return { StacCatalogUri: catalogUri };
  }
  return response === "document"
    ? toDocument(outputs)
    : Object.fromEntries(
        outputs.map((output) => [output.name, output.byReference ? toDocument([output])[output.name] : output.value]),
      );
}

/** @throws {OgcError} 404 before the end, and why a job failed after it */
function requireResult(job: Job): { readonly request: JobRequest; readonly result: JobResult } {
  if (!hasEnded(job.status)) {
    throw resultNotReady(job.status);
  }
  if (job.status !== "successful" || job.result === null) {
    const failure = (job.failure ?? { status: 500, title: "JobFailed" }) as unknown as JobFailure;
    const { status, title } = job.status === "dismissed" ? { status: 410, title: "JobDismissed" } : failure;
    throw new OgcError(status, title, job.message ?? `The job is ${job.status}.`);
  }
  return { request: job.request as unknown as JobRequest, result: job.result as unknown as JobResult };
}
