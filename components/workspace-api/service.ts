import { IGNORED_TOKEN_HEADER } from "@swath/auth";
import { createApp } from "@swath/service/fastify";
import { addOpenApi } from "@swath/service/openapi";
import type { Logger } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { sendError } from "./errors.ts";
import type { ApiContext } from "./routes/context.ts";
import { addRegistrationRoutes } from "./routes/registration.ts";
import { addWorkspaceRoutes } from "./routes/workspaces.ts";

const DESCRIPTION = `A workspace is a private space of a user: a bucket with keys of its own, protected for its members.

Create one with *POST /workspaces*; it answers at once, and *GET /workspaces/{name}* says \`provisioning\` until everything is there.`;

/** The public API. */
export async function createWorkspaceApi(logger: Logger, context: ApiContext): Promise<FastifyInstance> {
  const app = createApp(logger);
  await addOpenApi(app, {
    title: "Workspace API",
    version: "1.0.0",
    description: DESCRIPTION,
    tags: [
      { name: "workspaces", description: "Workspaces and their members" },
      { name: "registration", description: "What is in a workspace's catalogue" },
    ],
  });
  app.get("/", { schema: { hide: true } }, (_request, reply) => reply.redirect("/docs"));
  app.get("/probe", { schema: { hide: true } }, () => ({}));
  await app.register(async (scope) => {
    scope.setErrorHandler(sendError);
    const telling = tellOfIgnoredTokens(scope, context);
    addWorkspaceRoutes(scope, telling);
    addRegistrationRoutes(scope, telling);
  });
  return app;
}

/** On an open host a wrong token is as good as none; the answer says that it was not looked at. */
function tellOfIgnoredTokens(scope: FastifyInstance, context: ApiContext): ApiContext {
  const ignored = new WeakMap<FastifyRequest, string>();
  scope.addHook("onSend", async (request, reply) => {
    const reason = ignored.get(request);
    if (reason !== undefined) {
      void reply.header(IGNORED_TOKEN_HEADER, reason);
    }
  });
  return {
    ...context,
    callerOf: async (request) => {
      const caller = await context.callerOf(request);
      if (caller.ignored !== undefined) {
        ignored.set(request, caller.ignored);
      }
      return caller;
    },
  };
}
