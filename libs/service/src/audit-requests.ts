import type { Server } from "node:http";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Who sent a request, for the audit trail. */
export interface RequestActor {
  /** Subject of the token. */
  readonly id: string;
  readonly name?: string | undefined;
  readonly isAdmin: boolean;
}

interface RequestEntry {
  readonly action: string;
  readonly actor: string;
  readonly actorName?: string | undefined;
  readonly target: string;
  readonly ip: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

const actors = new WeakMap<object, RequestActor>();
const sinks = new WeakMap<Server, (entry: RequestEntry) => void>();

/** Says who sent a request. Whoever finds that out calls it. */
export const noteActor = (request: object, actor: RequestActor): void => void actors.set(request, actor);

/**
 * Notes what the audit trail is for: deletions, changes of rights and keys by anybody, and every change by an administrator. The
 * requests of an application made by `createApp` that were carried out, in its whole life.
 */
export const auditRequests = (app: FastifyInstance, note: (entry: RequestEntry) => void): void =>
  void sinks.set(app.server, note);

const CHANGES = new Set(["POST", "PUT", "PATCH", "DELETE"]);
/** Routes that are about who may do what. */
const RIGHTS =
  /member|permission|polic|share|token|key|credential|secret|robot|user|group|role|visibility|subscription|registr/i;
const MAX_TARGET = 500;

/** Called for each request that was answered. */
export function auditRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { method, ip, url, routeOptions } = request;
  const note = sinks.get(request.server.server as Server);
  if (note === undefined || !CHANGES.has(method) || reply.statusCode >= 400) {
    return;
  }
  const actor = actors.get(request);
  const route = routeOptions.url ?? "";
  if (method !== "DELETE" && actor?.isAdmin !== true && !RIGHTS.test(route)) {
    return;
  }
  note({
    action: `${method} ${route}`,
    actor: actor?.id ?? "anonymous",
    actorName: actor?.name,
    // Query strings may carry signatures and codes.
    target: (url.split("?", 1)[0] ?? "").slice(0, MAX_TARGET),
    ip,
    details: { status: reply.statusCode, ...(actor?.isAdmin === true && { administrator: true }) },
  });
}
