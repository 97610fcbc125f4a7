import type { JobSummary } from "../store/job-list.ts";
import { type Link, OGC_REL, type ApiBase, link } from "./context.ts";

/** Status info (OGC 18-062r2 §7.12.2), with the members of the coming version beside those of this one. */
export interface StatusInfo {
  readonly jobID: string;
  readonly id: string;
  readonly processID: string;
  readonly type: "process";
  readonly processingEntityType: "ogc-api-processes";
  readonly status: string;
  readonly message: string;
  readonly progress: number;
  readonly created: string;
  readonly started?: string;
  readonly finished?: string;
  readonly updated: string;
  /** What its runner does, and when that was heard of last, while the job is at work. */
  readonly runner?: { readonly stage: string; readonly heard: string };
  readonly usage?: JobUsage;
  readonly links: readonly Link[];
}

/** What a job used, as far as it was seen. */
interface JobUsage {
  readonly cpuSeconds?: number;
  readonly peakMemoryBytes?: number;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
}

export function toStatus(
  job: JobSummary,
  apiBase: ApiBase,
  steps?: { readonly cpuSeconds: number | null; readonly peakMemoryBytes: number | null },
  collection?: string,
): StatusInfo {
  const href = `${apiBase.url}/jobs/${job.id}`;
  return {
    jobID: job.id,
    id: job.id,
    processID: job.process_id,
    type: "process",
    processingEntityType: "ogc-api-processes",
    status: job.status,
    message: job.message ?? "",
    progress: job.progress,
    created: job.created_at.toISOString(),
    ...(job.started_at !== null && { started: job.started_at.toISOString() }),
    updated: job.updated_at.toISOString(),
    ...(job.finished_at !== null && { finished: job.finished_at.toISOString() }),
    ...(job.status === "running" &&
      job.heard_at !== null && { runner: { stage: job.stage ?? "preparing", heard: job.heard_at.toISOString() } }),
    ...toUsage(job, steps),
    links: [
      link(href, "self", "Status of the job"),
      link(`${href}?f=html`, "alternate", "Status of the job, as a page", "text/html"),
      link(href, "monitor", "Status of the job"),
      ...endLinks(job.status, href),
      ...(collection === undefined ? [] : [link(collection, "collection", "Results in the catalogue")]),
      link(`${href}/logs`, OGC_REL.log, "Log of the job", "text/plain"),
      link(`${href}/logs`, "related", "Log of the job", "text/plain"),
      link(`${href}/steps`, "related", "Steps of the job"),
      link(`${href}/inputs`, "related", "What the job was given"),
      link(`${apiBase.url}/jobs`, "up", "Jobs"),
    ],
  };
}

function toUsage(
  { bytes_in: bytesIn, bytes_out: bytesOut }: JobSummary,
  steps: { readonly cpuSeconds: number | null; readonly peakMemoryBytes: number | null } | undefined,
): { readonly usage?: JobUsage } {
  const usage: JobUsage = {
    ...(typeof steps?.cpuSeconds === "number" && { cpuSeconds: Math.round(steps.cpuSeconds * 100) / 100 }),
    ...(typeof steps?.peakMemoryBytes === "number" && { peakMemoryBytes: steps.peakMemoryBytes }),
    ...(bytesIn !== null && { bytesIn: Number(bytesIn) }),
    ...(bytesOut !== null && { bytesOut: Number(bytesOut) }),
  };
  return Object.keys(usage).length > 0 ? { usage } : {};
}

function endLinks(status: string, href: string): readonly Link[] {
  switch (status) {
    case "successful":
      return [
        link(`${href}/results`, OGC_REL.results, "Results of the job"),
        link(`${href}/files`, "related", "Files of the results"),
        link(`${href}/prov`, "related", "Where the results come from", "application/ld+json"),
      ];
    case "failed":
      return [link(`${href}/results`, OGC_REL.exceptions, "Why the job failed", "application/problem+json")];
    default:
      return [];
  }
}
