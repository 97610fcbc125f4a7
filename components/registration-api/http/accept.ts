import { setTimeout as sleep } from "node:timers/promises";

import { Problem } from "@swath/service";
import { REGISTRATIONS } from "@swath/service/caller-limits";
import type { FastifyRequest } from "fastify";
import type pg from "pg";

import { type RegistrationRequest, type Requester, UnknownTypeError, toTask } from "../model/requests.ts";
import { RegistrationError } from "../queue/errors.ts";
import { type Task, addTask, findTask } from "../store/tasks.ts";
import { type ApiContext, nameOf, requireOperator } from "./context.ts";

/** What the sender of a request is told. */
export interface Accepted {
  readonly id: string;
  readonly message: string;
}

/** How long a removal is waited for: clients have always been told that it is done. */
const REMOVAL_WAIT_MS = 5000;
const POLL_INTERVAL_MS = 20;
const MAX_POLL_INTERVAL_MS = 250;

/** Accepts a request of an operator. @throws {Problem} 400, 401, 403, 422, 429 */
export type Acceptor = (request: FastifyRequest, requested: RegistrationRequest) => Promise<Accepted>;

/** All ways in have one rate together. */
export function createAcceptor(context: ApiContext): Acceptor {
  const registrations = context.limits.createRate(REGISTRATIONS);
  return async (request, requested) => {
    const requestedBy = nameOf(await requireOperator(context, request));
    registrations.count({ user: requestedBy, address: request.ip });
    const key = request.headers["idempotency-key"];
    return acceptRequest(context.pool, requested, {
      scope: "",
      ...(requestedBy !== undefined && { requestedBy }),
      ...(typeof key === "string" && key !== "" && { idempotencyKey: `${requestedBy ?? ""} ${key.slice(0, 200)}` }),
    });
  };
}

/** Accepts a request as a durable task. @throws {Problem} 400, 422 */
export async function acceptRequest(
  pool: pg.Pool,
  request: RegistrationRequest,
  requester: Requester,
): Promise<Accepted> {
  try {
    const { task, message } = toTask(request, requester);
    const id = await addTask(pool, task);
    if (request.form !== "deregister" || (await awaitTask(pool, id, REMOVAL_WAIT_MS))?.state === "done") {
      return { id, message };
    }
    return { id, message: message.replace(/was successfully de-registered$/, "was applied for de-registration") };
  } catch (error) {
    if (error instanceof UnknownTypeError) {
      throw new Problem(400, error.message);
    }
    if (error instanceof RegistrationError) {
      throw new Problem(422, error.message);
    }
    throw error;
  }
}

/** A task once it has ended, or as it is when the time is over. */
export async function awaitTask(pool: pg.Pool, id: string, milliseconds: number): Promise<Task | undefined> {
  const deadline = Date.now() + milliseconds;
  let task: Task | undefined;
  for (let pause = POLL_INTERVAL_MS; Date.now() < deadline; pause = Math.min(pause * 1.5, MAX_POLL_INTERVAL_MS)) {
    task = await findTask(pool, id);
    if (task !== undefined && task.state !== "queued" && task.state !== "running") {
      return task;
    }
    await sleep(pause);
  }
  return task;
}
