import { Problem, toProblem } from "@swath/service";
import { createApp, createJsonBodyParser, parseForm } from "@swath/service/fastify";
import formbody from "@fastify/formbody";
import type { FastifyInstance, FastifyRequest } from "fastify";

import type { HubContext } from "../context.ts";
import { addOauthRoutes } from "../oauth/provider.ts";
import { addGroupRoutes } from "./groups.ts";
import { JUPYTERHUB_VERSION, addHubRoutes } from "./hub.ts";
import { addMonitoringRoutes } from "./monitoring.ts";
import { addServerRoutes } from "./servers.ts";
import { addShareCodeRoutes } from "./share-codes.ts";
import { addShareRoutes } from "./shares.ts";
import { addSwathRoutes } from "./swath.ts";
import { addTokenRoutes } from "./tokens.ts";
import { addUserRoutes } from "./users.ts";

const FORM = "application/x-www-form-urlencoded";
const READ = { parseAs: "buffer", bodyLimit: 1_000_000 } as const;

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
  addOauthRoutes(app, context);
  void app.register(async (scope) => {
    readBodies(scope);
    addHubRoutes(scope, context);
    addMonitoringRoutes(scope, context);
    addUserRoutes(scope, context);
    addServerRoutes(scope, context);
    addTokenRoutes(scope, context);
    addGroupRoutes(scope, context);
    addShareRoutes(scope, context);
    addShareCodeRoutes(scope, context);
    addSwathRoutes(scope, context);
  });
}

/**
 * Bodies are JSON, as in JupyterHub whatever type a client with a token names: curl calls them a form where it is told nothing. Taken for
 * a form, a narrow token would be one without limits. Browsers send forms to any host that a page names, so with a cookie a form is one.
 */
function readBodies(app: FastifyInstance): void {
  const json = createJsonBodyParser();
  const readJson = async (request: FastifyRequest, body: Buffer): Promise<unknown> =>
    body.length === 0 ? null : json(request, body);
  const hasToken = ({ headers }: FastifyRequest): boolean => headers.authorization !== undefined;
  app.removeContentTypeParser(["application/json", FORM, "text/plain"]);
  app.addContentTypeParser("application/json", READ, readJson);
  app.addContentTypeParser(FORM, READ, async (request: FastifyRequest, body: Buffer) =>
    hasToken(request) ? readJson(request, body) : parseForm(body.toString("utf8")),
  );
  app.addContentTypeParser("*", READ, async (request: FastifyRequest, body: Buffer) => {
    if (!hasToken(request)) {
      throw new Problem(415, "The body must be JSON, with the content type application/json.");
    }
    return readJson(request, body);
  });
}
