import { RequestError } from "@swath/ui";

import { requestService } from "./services.ts";

/** A workspace in a list. */
export interface WorkspaceSummary {
  readonly name: string;
  readonly status: WorkspaceStatus;
  readonly owner: string;
  readonly role: Role;
  readonly created_at: string;
}

export type WorkspaceStatus = "provisioning" | "ready" | "deleting";
export type Role = "owner" | "writer" | "reader";

export interface Credentials {
  readonly bucketname: string;
  readonly access: string;
  readonly secret: string;
  readonly endpoint: string;
  readonly region: string;
}

/** A workspace as its members see it. */
export interface Workspace {
  readonly name: string;
  readonly status: WorkspaceStatus;
  readonly status_reason?: string;
  readonly owner: string;
  readonly role: Role;
  readonly members: readonly { readonly username: string; readonly role: Role }[];
  readonly storage: {
    readonly credentials: Credentials;
    readonly quota_in_mb: number | null;
    readonly usage: {
      readonly bytes: number;
      readonly objects: number;
      /** The quota in force: the workspace's own, or the deployment's. */
      readonly quota_in_mb?: number;
      /** ISO 8601: when this was counted. */
      readonly at: string;
    } | null;
  } | null;
  readonly steps: readonly {
    readonly name: string;
    readonly state: string;
    readonly attempts?: number;
    readonly error?: string | null;
    readonly updated_at: string;
  }[];
  readonly created_at: string;
}

const at = (name: string, rest = "") => `/workspaces/${encodeURIComponent(name)}${rest}`;

/** One's own, or all for an administrator: every page. */
export async function listWorkspaces(): Promise<readonly WorkspaceSummary[]> {
  const all: WorkspaceSummary[] = [];
  let after: string | undefined;
  do {
    const query = new URLSearchParams({ limit: "1000", ...(after !== undefined && { after }) });
    const page = await requestService<{ workspaces: readonly WorkspaceSummary[]; next?: string }>(
      "workspace-api",
      `/workspaces?${query}`,
    );
    all.push(...page.workspaces);
    after = page.next;
  } while (after !== undefined);
  return all;
}

/** A workspace; one that was made this moment too, whose members the gatekeeper does not know yet (403). */
export async function readWorkspace(name: string): Promise<Workspace> {
  try {
    return await requestService<Workspace>("workspace-api", at(name));
  } catch (error) {
    if (!(error instanceof RequestError && error.status === 403)) {
      throw error;
    }
    const line = (await listWorkspaces()).find((found) => found.name === name);
    if (line === undefined || line.status === "ready") {
      throw error;
    }
    return { ...line, members: [], storage: null, steps: [] };
  }
}

/** Gives the name that the workspace got. */
export async function createWorkspace(preferredName: string, owner: string): Promise<string> {
  const body = { preferred_name: preferredName, default_owner: owner };
  return (await requestService<{ name: string }>("workspace-api", "/workspaces", { method: "POST", body })).name;
}

export interface WorkspaceChange {
  readonly storage?: { readonly quota_in_mb: number | null };
  /** Everybody but the owner; who is not named is none any more. */
  readonly members?: readonly { readonly username: string; readonly role: Role }[];
}

export function changeWorkspace(name: string, change: WorkspaceChange): Promise<void> {
  return requestService("workspace-api", at(name), { method: "PATCH", body: change });
}

export function deleteWorkspace(name: string, data: "keep" | "purge"): Promise<void> {
  return requestService("workspace-api", `${at(name)}?data=${data}`, { method: "DELETE" });
}

export function rotateKeys(name: string): Promise<void> {
  return requestService("workspace-api", at(name, "/rotate-keys"), { method: "POST" });
}
