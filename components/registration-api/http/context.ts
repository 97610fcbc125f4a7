import type { Caller } from "@swath/auth";
import { Problem, maskCredentialsIn } from "@swath/service";
import type { CallerLimits } from "@swath/service/caller-limits";
import type { FastifyRequest } from "fastify";
import type pg from "pg";

import { type Task, findTask } from "../store/tasks.ts";

export interface ApiContext {
  readonly pool: pg.Pool;
  readonly callerOf: (request: FastifyRequest) => Promise<Caller>;
  readonly publicUrl: string;
  /** Public base URL of the resource catalogue, without a slash at the end. */
  readonly catalogueUrl: string;
  readonly limits: CallerLimits;
}

/** The caller, who must be an operator: what is registered here is the platform's. @throws {Problem} 401, 403 */
export async function requireOperator({ callerOf }: ApiContext, request: FastifyRequest): Promise<Caller> {
  const caller = await callerOf(request);
  if (!caller.isAdmin) {
    throw new Problem(
      403,
      "Only operators register data of the platform; register yours in your workspace: POST /workspaces/{name}/register of the workspace API.",
    );
  }
  return caller;
}

export const nameOf = ({ user }: Caller): string | undefined => user && (user.username ?? user.id);

/** A task for an operator, or for who asked for it. @throws {Problem} 404 */
export async function enterTask(
  { pool, callerOf }: ApiContext,
  request: FastifyRequest<{ Params: { id: string } }>,
): Promise<Task> {
  const caller = await callerOf(request);
  const task = await findTask(pool, request.params.id);
  const isTheirs = caller.isAdmin || (task?.requested_by !== null && task?.requested_by === nameOf(caller));
  if (task === undefined || !isTheirs) {
    throw new Problem(404, `There is no task ${request.params.id}, or it is not yours to see.`);
  }
  return task;
}

/** A task as it is shown: addresses without logins. */
export function showTask({ scope, payload, due_at: due, ...task }: Task): object {
  const { buckets: _buckets, provenance: _provenance, ...request } = payload;
  return {
    id: task.id,
    kind: task.kind,
    workspace: scope === "" ? null : scope,
    state: task.state,
    attempts: task.attempts,
    ...(task.state === "queued" && task.attempts > 0 && { next_attempt: due.toISOString() }),
    reason: maskCredentialsIn(task.reason),
    request: maskCredentialsIn(request),
    result: maskCredentialsIn(task.result),
    requested_by: task.requested_by,
    created_at: task.created_at.toISOString(),
    started_at: task.started_at?.toISOString() ?? null,
    finished_at: task.finished_at?.toISOString() ?? null,
  };
}
