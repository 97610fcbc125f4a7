import { request, requestJson } from "@swath/ui";

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly workload: string;
  readonly component: string;
  readonly phase: string;
  readonly ready: boolean;
  readonly restarts: number;
  readonly createdAt: string;
  readonly message?: string;
}

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
