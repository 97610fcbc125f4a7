import type { FastifyInstance } from "fastify";
import type { Selectable } from "kysely";
import { Readable } from "node:stream";

import { describeProvenance } from "../results/provenance.ts";
import { maskSecrets } from "../results/mask-secrets.ts";
import { listDeliveries } from "../store/deliveries.ts";
import { listLog, listSteps } from "../store/job-records.ts";
import { findVersion } from "../store/processes.ts";
import type { JobRequest, Tables } from "../store/tables.ts";
import { type ApiContext, type ApiFlavor, resolveApiBase, link, packageOf } from "./context.ts";
import { followLog } from "./follow-log.ts";
import { openJob } from "./open-job.ts";
import * as schemas from "./schemas/jobs.ts";

/** What is known of how a job went: its log, its steps, what it was given, where its results come from, who was told. */
export function addJobRecordRoutes(app: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  const { db } = context;
  const path = `/:user/${apiFlavor}/jobs/:id`;

  app.get(`${path}/inputs`, { schema: schemas.readInputs }, async (request) => {
    const job = await openJob(context, request, apiFlavor);
    // Whether results are registered is the deployment's choice, not the caller's.
    const { inputs, register: _register, ...rest } = job.request as unknown as JobRequest;
    const process = await findVersion(db, job.owner, job.process_id, job.process_version);
    const facts = process && (await context.packages.read("facts", job.owner, packageOf(process)));
    const address = `${resolveApiBase(context, request, apiFlavor).url}/jobs/${job.id}`;
    return {
      inputs: maskSecrets(inputs, facts?.secrets ?? []),
      ...rest,
      links: [link(`${address}/inputs`, "self", "What the job was given"), link(address, "up", "The job")],
    };
  });

  app.get(`${path}/steps`, { schema: schemas.readSteps }, async (request) => {
    const { id } = await openJob(context, request, apiFlavor);
    return { steps: (await listSteps(db, id)).map(toStep) };
  });

  app.get(`${path}/logs`, { schema: schemas.readLogs }, async (request, reply) => {
    const job = await openJob(context, request, apiFlavor);
    if (request.headers.accept?.includes("text/event-stream") === true) {
      return followLog(context, job, request, reply);
    }
    return reply.type("text/plain; charset=utf-8").send(Readable.from(readLog(context, job.id)));
  });

  app.get(`${path}/prov`, { schema: schemas.readProvenance }, async (request, reply) => {
    const job = await openJob(context, request, apiFlavor);
    return reply.type("application/ld+json").send(JSON.stringify(await describeProvenance(context, job), null, 2));
  });

  app.get(`${path}/notifications`, { schema: schemas.readNotifications }, async (request) => {
    const { id } = await openJob(context, request, apiFlavor);
    return { notifications: await listDeliveries(db, id) };
  });
}

/** A step as it is shown. */
export function toStep(step: Selectable<Tables["job_step"]>) {
  return {
    name: step.name === "" ? "(whole process)" : step.name,
    status: step.status,
    ...(step.exit_code !== null && { exitCode: step.exit_code }),
    ...(step.message !== null && { message: step.message }),
    ...(step.image !== null && { image: step.image }),
    ...(step.cpu_seconds !== null && { cpuSeconds: step.cpu_seconds }),
    ...(step.peak_memory_bytes !== null && { peakMemoryBytes: Number(step.peak_memory_bytes) }),
    ...(step.wall_seconds !== null && { wallSeconds: step.wall_seconds }),
    ...(step.bytes_in !== null && { bytesIn: Number(step.bytes_in) }),
    ...(step.bytes_out !== null && { bytesOut: Number(step.bytes_out) }),
    started: step.started_at?.toISOString() ?? null,
    finished: step.finished_at?.toISOString() ?? null,
  };
}

/** The log from the beginning, in pieces: it may be longer than what fits in memory. */
async function* readLog({ db }: ApiContext, id: string): AsyncGenerator<string> {
  let after = "0";
  for (;;) {
    const lines = await listLog(db, id, after);
    if (lines.length === 0) {
      return;
    }
    after = lines.at(-1)?.id ?? after;
    yield lines.map(({ text }) => (text.endsWith("\n") ? text : `${text}\n`)).join("");
  }
}
