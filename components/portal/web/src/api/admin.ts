import { RequestError, request, requestJson } from "@swath/ui";

import type { HealthSample } from "../../../services/health-history.ts";
import type { AuditLine } from "../../../admin/audit-search.ts";
import type { Pod } from "../../../admin/platform-status.ts";

export type { AuditLine, HealthSample, Pod };

/** One line of the deployment's configuration; secrets are masked. */
export interface Setting {
  readonly name: string;
  readonly group: string;
  readonly value: string | number | boolean | null;
  readonly secret: boolean;
  /** Where the value comes from, in words. */
  readonly origin: string;
}

export async function listPods(): Promise<readonly Pod[]> {
  return (await requestJson<{ pods: readonly Pod[] }>("/api/admin/pods")).pods;
}

/** The last lines of a pod's log. */
export async function readPodLog(namespace: string, pod: string, lines: number): Promise<string> {
  const path = `/api/admin/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}/log?lines=${lines}`;
  return (await request(path, { headers: { accept: "text/plain" } })).text();
}

export async function readConfiguration(): Promise<readonly Setting[]> {
  return (await requestJson<{ settings: readonly Setting[] }>("/api/admin/configuration")).settings;
}

/** How a service did, minute by minute. */
export async function readHealth(): Promise<Readonly<Record<string, readonly HealthSample[]>>> {
  return (await requestJson<{ services: Readonly<Record<string, readonly HealthSample[]>> }>("/api/admin/health"))
    .services;
}

export interface AuditFilter {
  readonly actor?: string;
  readonly text?: string;
  readonly service?: string;
}

export interface AuditPage {
  readonly entries: readonly AuditLine[];
  /** Number before which the next page begins; left out on the last one. */
  readonly next?: number;
}

/** A page of the audit trail, the latest first. */
export async function searchAudit(filter: AuditFilter, before: number | undefined): Promise<AuditPage> {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ""));
  if (before !== undefined) {
    query.set("before", String(before));
  }
  return requestJson<AuditPage>(`/api/admin/audit?${query.toString()}`);
}

/** Names of all users; `undefined` where another identity service keeps them. */
export async function listUsers(): Promise<readonly string[] | undefined> {
  try {
    return (await requestJson<{ users: readonly string[] }>("/api/admin/users")).users;
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) {
      return undefined;
    }
    throw error;
  }
}
