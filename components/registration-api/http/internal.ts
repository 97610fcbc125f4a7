import { type Logger, Problem, type SecretCheck, readBearer } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import type { FastifyInstance } from "fastify";
import type pg from "pg";
import { type Static, Type } from "typebox";

import type { RegistrationRequest } from "../model/requests.ts";
import { listTasks } from "../store/tasks.ts";
import { acceptRequest, awaitTask } from "./accept.ts";
import { TaskQuery } from "./schemas.ts";
import { addObjectEventRoute } from "./object-events.ts";
import { showTasks } from "./tasks.ts";

const MAX_BODY_BYTES = 9 * 2 ** 20;

const AcceptBody = Type.Object({
  scope: Type.String({ minLength: 1, maxLength: 63 }),
  requestedBy: Type.Optional(Type.String({ maxLength: 255 })),
  buckets: Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 }),
  idempotencyKey: Type.Optional(Type.String({ maxLength: 300 })),
  /** Seconds that the answer waits for what comes of it. */
  wait: Type.Optional(Type.Number({ minimum: 0, maximum: 30 })),
  provenance: Type.Optional(Type.Object({}, { additionalProperties: true })),
  request: Type.Object(
    { form: Type.Enum(["register", "deregister", "collection", "json"]) },
    { additionalProperties: true },
  ),
});

interface InternalOptions {
  readonly logger: Logger;
  readonly pool: pg.Pool;
  /** Knows what callers show as a bearer token. */
  readonly isSecret: SecretCheck;
  /** Public base URL of the API, for the addresses of tasks; undefined where it has no host. */
  readonly publicUrl: string | undefined;
}

/** What other services of the deployment ask in the name of workspaces, on a port that is not published. */
export function createInternalApi({ logger, pool, isSecret, publicUrl }: InternalOptions): FastifyInstance {
  const app = createApp(logger, { bodyLimit: MAX_BODY_BYTES });
  app.addHook("onRequest", async (request) => {
    if (request.url !== "/healthz" && !isSecret(readBearer(request.headers.authorization))) {
      throw new Problem(401, "This port is for services of the deployment, which know its secret.");
    }
  });
  app.post<{ Body: Static<typeof AcceptBody> }>("/tasks", { schema: { body: AcceptBody } }, async (request, reply) => {
    const { request: requested, wait = 0, ...requester } = request.body;
    const accepted = await acceptRequest(pool, requested as RegistrationRequest, requester);
    const task = wait > 0 ? await awaitTask(pool, accepted.id, wait * 1000) : undefined;
    return reply.code(202).send({
      ...accepted,
      ...(publicUrl !== undefined && { location: `${publicUrl}/tasks/${accepted.id}` }),
      ...(task && { state: task.state, reason: task.reason, records: task.result?.records ?? [] }),
    });
  });
  addObjectEventRoute(app, pool);
  app.get<{ Querystring: Static<typeof TaskQuery> }>(
    "/tasks",
    { schema: { querystring: TaskQuery } },
    async (request) => {
      const { limit = 100, workspace = "", state, before } = request.query;
      return showTasks(
        await listTasks(pool, {
          scope: workspace,
          limit,
          ...(state !== undefined && { state }),
          ...(before !== undefined && { before }),
        }),
        limit,
      );
    },
  );
  return app;
}
