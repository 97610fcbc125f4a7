import type { RunEvent, Value, ValueObject } from "@swath/cwl";
import type { Kysely, Selectable } from "kysely";

import { OgcError } from "../errors.ts";
import type { PackageReader } from "../packages/package-reader.ts";
import { listSteps } from "../store/job-records.ts";
import type { Job } from "../store/jobs.ts";
import { findVersion } from "../store/processes.ts";
import type { JobRequest, JobResult, Tables } from "../store/tables.ts";
import { isStoredFile } from "./outputs.ts";

/**
 * Where the results of a job come from: a Workflow Run RO-Crate (profile 0.5) with the package, what went in, what came out, and
 * each step with its command, image and times.
 * @throws {OgcError} 404 for a built-in process, which has no steps
 */
export async function describeProvenance(
  { db, packages }: { readonly db: Kysely<Tables>; readonly packages: PackageReader },
  job: Job,
): Promise<object> {
  const process = await findVersion(db, job.owner, job.process_id, job.process_version);
  if (process === undefined) {
    throw new OgcError(404, "NotFound", `Process ${job.process_id} is built in; its jobs have no steps to tell of.`);
  }
  const { inputs } = job.request as unknown as JobRequest;
  const { outputs = {} } = (job.result ?? {}) as unknown as Partial<JobResult>;
  return packages.read("describeRun", job.owner, {
    text: process.package,
    process: process.entry ?? process.id,
    inputs: toValues(inputs),
    outputs: toValues(outputs),
    events: toEvents(job, await listSteps(db, job.id)),
  });
}

/** Addresses as the engine's files. */
function toValues(values: Readonly<Record<string, unknown>>): ValueObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toValue(value)]));
}

function toValue(value: unknown): Value {
  if (Array.isArray(value)) {
    return value.map(toValue);
  }
  if (isStoredFile(value)) {
    const { href, type } = value;
    const isFolder = href.endsWith("/catalog.json");
    return {
      class: isFolder ? "Directory" : "File",
      location: href,
      basename: href.split("/").at(-1) ?? href,
      ...(type !== undefined && { format: type }),
    } as unknown as Value;
  }
  return (value ?? null) as Value;
}

/** What the engine told of a run, from the records that were kept of it. */
function toEvents(job: Job, steps: readonly Selectable<Tables["job_step"]>[]): readonly RunEvent[] {
  const events: (Record<string, unknown> & { readonly time: string })[] = [
    {
      type: "run-started",
      process: job.process_id,
      warnings: [],
      resumed: job.attempts > 1,
      time: timeOf(job.started_at ?? job.created_at),
    },
  ];
  for (const { name: step, status, exit_code, message, command, image, started_at, finished_at } of steps) {
    if (started_at !== null && status !== "skipped") {
      const words = (command ?? []) as unknown as readonly string[];
      events.push({
        type: "step-started",
        step,
        command: words,
        image: image ?? undefined,
        attempt: 1,
        time: timeOf(started_at),
      });
    }
    if (finished_at !== null && status !== "skipped") {
      const end = { step, exitCode: exit_code ?? undefined, time: timeOf(finished_at) };
      events.push(
        status === "failed"
          ? { ...end, type: "step-failed", message: message ?? "", retrying: false }
          : { ...end, type: "step-finished", outputs: {}, reused: false },
      );
    }
  }
  if (job.finished_at !== null) {
    const time = timeOf(job.finished_at);
    events.push(
      job.status === "successful"
        ? { type: "run-finished", outputs: {}, time }
        : { type: "run-failed", code: job.status, message: job.message ?? "", time },
    );
  }
  return events.map((event, index) => ({ ...event, sequence: index + 1 }) as unknown as RunEvent);
}

const timeOf = (date: Date): string => date.toISOString();
