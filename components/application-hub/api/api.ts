import { Problem, toProblem } from "@swath/service";
import { createApp, createJsonBodyParser, parseForm } from "@swath/service/fastify";
import formbody from "@fastify/formbody";
import type { FastifyInstance, FastifyRequest } from "fastify";

import type { HubContext } from "../context.ts";
import { addOauthRoutes } from "../oauth/provider.ts";
import { addGroupRoutes } from "./groups.ts";
import { JUPYTERHUB_VERSION, addHubRoutes } from "./hub.ts";
import { addServerRoutes } from "./servers.ts";
import { addShareCodeRoutes } from "./share-codes.ts";
import { addShareRoutes } from "./shares.ts";
import { addSwathRoutes } from "./swath.ts";
import { addTokenRoutes } from "./tokens.ts";
import { addUserRoutes } from "./users.ts";

/** The API alone, for servers. */
export async function createApi(context: HubContext): Promise<FastifyInstance> {
  const app = createApp(context.logger);
  await app.register(formbody, { parser: parseForm });
  await app.register(async (scope) => addApi(scope, context), { prefix: "/hub/api" });
  return app;
}

/** `/hub/api`: JupyterHub's REST API, with its own form of errors. */
export function addApi(app: FastifyInstance, context: HubContext): void {
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error);
    if (problem.status >= 500) {
      request.log.error({ err: error }, "request failed");
    }
    return reply
      .code(problem.status)
      .headers(problem.headers)
      .type("application/json")
      .send(
        JSON.stringify({
          status: problem.status,
          message: problem.message === "" ? problem.body.detail : problem.message,
          ...(problem.body["command"] !== undefined && { command: problem.body["command"] }),
        }),
      );
  });
  app.setNotFoundHandler((request) => {
    throw new Problem(404, `There is nothing at ${request.method} ${request.url.split("?", 1)[0]}.`);
  });
  // Single-user servers compare it with their own.
  app.addHook("onSend", async (_request, reply) => {
    void reply.header("x-jupyterhub-version", JUPYTERHUB_VERSION);
  });
  // Clients send empty bodies as JSON.
  app.removeContentTypeParser("application/json");
  const json = createJsonBodyParser();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer", bodyLimit: 1_000_000 },
    async (request: FastifyRequest, body: Buffer) => (body.length === 0 ? null : json(request, body)),
  );
  addHubRoutes(app, context);
  addUserRoutes(app, context);
  addServerRoutes(app, context);
  addTokenRoutes(app, context);
  addGroupRoutes(app, context);
  addShareRoutes(app, context);
  addShareCodeRoutes(app, context);
  addSwathRoutes(app, context);
  addOauthRoutes(app, context);
}
