import { createPeer } from "@swath/service";

import type { AdesSettings } from "../execution/storage.ts";
import type { Job } from "../store/jobs.ts";
import type { JobRequest, JobResult } from "../store/tables.ts";
import { RefusedForGoodError } from "./send-callback.ts";

/** Seconds that an answer is waited for: what is accepted then is registered later. */
const REGISTRATION_WAIT_SECONDS = 10;
const TIMEOUT_MS = 20_000;

/**
 * Has the catalogue of a job's results registered in the workspace of the job's owner, with links to the job and its package. The workspace
 * API keeps the request until the service that carries it out takes it.
 * @returns where the results are in the workspace's catalogue, where that is known already
 * @throws {Error} when it was not taken
 */
export async function registerResults(settings: AdesSettings, job: Job): Promise<string | undefined> {
  const { catalogUri } = (job.result ?? {}) as unknown as JobResult;
  if (catalogUri === undefined) {
    throw new RefusedForGoodError("the job has no catalogue of results");
  }
  const { state, reason, workspace } = await send(settings, job.owner, "registrations", {
    type: "stac-item",
    url: catalogUri,
    wait: REGISTRATION_WAIT_SECONDS,
    provenance: { links: toLinks(settings, job) },
  });
  if (state === "failed") {
    throw new RefusedForGoodError(reason ?? "the results could not be registered");
  }
  return workspace === undefined || settings.CATALOGUE_PUBLIC_URL === undefined
    ? undefined
    : toCollectionUrl(settings.CATALOGUE_PUBLIC_URL, workspace, job.id);
}

/** Takes the records of results that are gone out of the catalogue. @throws {Error} when the request was not taken */
export async function deregisterResults(settings: AdesSettings, owner: string, catalogUri: string): Promise<void> {
  if (settings.WORKSPACE_URL === undefined || settings.REGISTER_RESULTS !== "true") {
    return;
  }
  try {
    await send(settings, owner, "deregistrations", { url: catalogUri });
  } catch (error) {
    // Without a workspace there is no catalogue that they are in.
    if (!(error instanceof RefusedForGoodError)) {
      throw error;
    }
  }
}

interface ServiceResponse {
  readonly detail?: string;
  readonly state?: string;
  readonly reason?: string | null;
  readonly workspace?: string;
}

async function send(
  { WORKSPACE_URL: url, WORKSPACE_SECRET: secret }: AdesSettings,
  owner: string,
  what: string,
  body: object,
): Promise<ServiceResponse> {
  if (url === undefined || secret === undefined) {
    throw new RefusedForGoodError("this deployment has no workspace API any more");
  }
  const peer = createPeer(url);
  try {
    const response = await peer.fetch(`/users/${encodeURIComponent(owner)}/${what}`, {
      method: "POST",
      timeout: TIMEOUT_MS,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const reply = (await response.json()) as ServiceResponse;
    // 501: a deployment without a catalogue.
    if (response.status === 404 || response.status === 501) {
      throw new RefusedForGoodError(reply.detail ?? `${owner} has no workspace`);
    }
    if (!response.ok) {
      throw new Error(reply.detail ?? `the workspace API answers ${response.status}`);
    }
    return reply;
  } finally {
    await peer.close();
  }
}

interface ProvenanceLink {
  readonly rel: string;
  readonly href: string;
  readonly type: string;
  readonly title: string;
}

/** From a record to what made it: the job, its provenance, its process and package. Inputs are in the results' own `derived_from`. */
function toLinks({ PUBLIC_URL }: AdesSettings, job: Job): readonly ProvenanceLink[] {
  const space = `${new URL(PUBLIC_URL).origin}/${encodeURIComponent(job.owner)}/ogc-api`;
  const { inputs } = job.request as unknown as JobRequest;
  const [jobUrl, process] = [`${space}/jobs/${job.id}`, `${space}/processes/${encodeURIComponent(job.process_id)}`];
  const json = "application/json";
  return [
    { rel: "via", href: jobUrl, type: json, title: `Job ${job.id}` },
    { rel: "describedby", href: `${jobUrl}/prov`, type: "application/ld+json", title: "Where the results come from" },
    ...(Object.keys(inputs).length > 0
      ? [{ rel: "related", href: `${jobUrl}/inputs`, type: json, title: "What the job was given" }]
      : []),
    { rel: "related", href: process, type: json, title: `Process ${job.process_id}` },
    {
      rel: "processing-expression",
      href: `${process}/package`,
      type: "application/cwl+yaml",
      title: "Application package",
    },
  ];
}

/** A collection at the host of a workspace: its name comes after the service's. */
function toCollectionUrl(publicUrl: string, workspace: string, collection: string): string {
  const { protocol, host } = new URL(publicUrl);
  const [service = "", ...domain] = host.split(".");
  return `${protocol}//${[service, workspace, ...domain].join(".")}/stac/collections/${encodeURIComponent(collection)}`;
}
