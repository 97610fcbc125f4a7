import { requestService, callService } from "./services.ts";

export interface RegistrationTask {
  readonly id: string;
  readonly kind: string;
  readonly workspace: string | null;
  readonly state: "queued" | "running" | "done" | "failed" | "superseded" | "cancelled";
  readonly attempts: number;
  readonly reason: string | null;
  readonly request: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<"registered" | "unchanged" | "removed" | "failed", number>> | null;
  readonly created_at: string;
  readonly finished_at: string | null;
}

/** A harvester in the form of configuration files, with when it runs and what it did last. */
export interface Harvester {
  readonly name: string;
  readonly resource: HarvesterResource;
  readonly collection?: string;
  readonly deletions?: boolean;
  readonly schedule: string | null;
  readonly next_run: string | null;
  readonly last_run: RegistrationTask | null;
}

export interface HarvesterResource {
  readonly url: string;
  readonly type: string;
  readonly query?: {
    readonly collection?: string;
    readonly bbox?: readonly number[];
    readonly time?: { readonly begin?: string; readonly end?: string };
  };
}

export interface TaskProblem {
  readonly record: string;
  readonly reason: string;
}

const SERVICE = "registration-api";

export async function listHarvesters(): Promise<readonly Harvester[]> {
  return (await requestService<{ harvesters: readonly Harvester[] }>(SERVICE, "/harvesters")).harvesters;
}

export async function putHarvester(name: string, form: object): Promise<void> {
  await requestService(SERVICE, `/harvesters/${encodeURIComponent(name)}`, { method: "PUT", body: form });
}

export async function removeHarvester(name: string): Promise<void> {
  await callService(SERVICE, `/harvesters/${encodeURIComponent(name)}`, { method: "DELETE" });
}

export async function runHarvester(name: string): Promise<void> {
  await requestService(SERVICE, `/harvesters/${encodeURIComponent(name)}/run`, { method: "POST" });
}

export async function listTasks(state: string): Promise<readonly RegistrationTask[]> {
  const query = new URLSearchParams({ limit: "100", ...(state !== "" && { state }) });
  return (await requestService<{ tasks: readonly RegistrationTask[] }>(SERVICE, `/tasks?${query.toString()}`)).tasks;
}

export const readTask = (id: string): Promise<RegistrationTask> => requestService(SERVICE, `/tasks/${id}`);

export async function listProblems(id: string): Promise<readonly TaskProblem[]> {
  return (await requestService<{ problems: readonly TaskProblem[] }>(SERVICE, `/tasks/${id}/problems`)).problems;
}

/** Repeats a task that was set aside, with what is mended of its request. */
export async function repeatTask(id: string, repair: object = {}): Promise<void> {
  await requestService(SERVICE, `/tasks/${id}/repeat`, { method: "POST", body: repair });
}

export async function repeatAll(): Promise<number> {
  const options = { method: "POST", body: {} } as const;
  return (await requestService<{ repeated: number }>(SERVICE, "/tasks/repeat", options)).repeated;
}

export async function cancelTask(id: string): Promise<void> {
  await requestService(SERVICE, `/tasks/${id}`, { method: "DELETE" });
}
