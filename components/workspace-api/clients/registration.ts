import { type Peer, createPeer } from "@swath/service";

import { WorkspaceError } from "../errors.ts";

/** What is registered in a workspace, as the registration API takes it. */
export interface WorkspaceRequest {
  readonly scope: string;
  readonly requestedBy?: string;
  /** The workspace's own. */
  readonly buckets: readonly string[];
  readonly idempotencyKey?: string;
  readonly provenance?: object;
  /** Seconds that the answer waits for what comes of it. */
  readonly wait?: number;
  readonly request: object;
}

/** What became of a request: its state where it was waited for. */
export interface AcceptedRequest {
  readonly message: string;
  /** Where it is followed. */
  readonly location?: string;
  readonly state?: string;
  readonly reason?: string | null;
}

/** The registration API, which carries out what is asked of workspaces. */
export interface RegistrationClient {
  /** @returns what the sender is told @throws {WorkspaceError} what the registration API refuses */
  readonly send: (request: WorkspaceRequest) => Promise<AcceptedRequest>;
  readonly list: (workspace: string, limit: number) => Promise<readonly RegistrationTask[]>;
  readonly close: () => Promise<void>;
}

export interface RegistrationTask {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly reason: string | null;
  readonly request: object;
  readonly requested_by: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
}

const TIMEOUT_MS = 15_000;
const MS_PER_SECOND = 1000;

/** @param url internal port of the registration API */
export function createRegistrationClient(url: string, secret: string): RegistrationClient {
  const peer: Peer = createPeer(url);
  const call = async (path: string, body?: object, wait = 0): Promise<unknown> => {
    const response = await peer.fetch(path, {
      timeout: TIMEOUT_MS + wait * MS_PER_SECOND,
      headers: { authorization: `Bearer ${secret}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    const reply = (await response.json()) as { detail?: string };
    if (!response.ok) {
      throw new WorkspaceError(response.status, reply.detail ?? `The registration API answers ${response.status}.`);
    }
    return reply;
  };
  return {
    send: async (request) => (await call("/tasks", request, request.wait)) as AcceptedRequest,
    list: async (workspace, limit) => {
      const query = new URLSearchParams({ workspace, limit: String(limit) });
      return ((await call(`/tasks?${query.toString()}`)) as { tasks: readonly RegistrationTask[] }).tasks;
    },
    close: () => peer.close(),
  };
}
