import { type Logger, Problem, toProblem } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import { addOpenApi } from "@swath/service/openapi";
import type { FastifyError, FastifyInstance } from "fastify";

import { createAcceptor } from "./http/accept.ts";
import type { ApiContext } from "./http/context.ts";
import { addHarvesterRoutes } from "./http/harvesters.ts";
import { addJobRoutes } from "./http/jobs.ts";
import { addProcessRoutes } from "./http/processes.ts";
import { addRegisterRoutes } from "./http/register.ts";
import { addTaskRoutes } from "./http/tasks.ts";

const DESCRIPTION = `Registers data, services and applications in the platform's resource catalogue.

A request is accepted as a task that is not lost; \`Location\` of the response is where it can be followed. What was accepted last wins, for each record.`;

const TOO_LARGE =
  "The body is larger than a request may be (8 MiB for a document, 64 KiB for a harvester, 1 MiB else); put a document at an address or into a bucket, and register that: POST /register.";

/** The public API. Listens on nothing. */
export async function createRegistrationApi(logger: Logger, context: ApiContext): Promise<FastifyInstance> {
  const app = createApp(logger);
  await addOpenApi(app, {
    title: "Registration API",
    version: "1.0.0",
    description: DESCRIPTION,
    tags: [
      { name: "registration", description: "What is to be in the catalogue" },
      { name: "processes", description: "The same as OGC API Processes" },
      { name: "tasks", description: "What became of it" },
      { name: "harvesters", description: "What is brought in by schedule" },
    ],
  });
  app.get("/probe", { schema: { hide: true } }, () => ({}));
  await app.register(async (scope) => {
    scope.setErrorHandler(async (error: FastifyError, request, reply) => {
      if (error.statusCode === 413) {
        throw new Problem(413, TOO_LARGE);
      }
      if (error.validation === undefined) {
        throw error;
      }
      // Existing clients know this status and the list of what is wrong.
      const { body } = toProblem(error);
      const where = error.validationContext ?? "body";
      const detail = error.validation.map(({ instancePath, message, params }) => ({
        loc: [
          where,
          ...instancePath.split("/").slice(1),
          ...(typeof params["missingProperty"] === "string" ? [params["missingProperty"]] : []),
        ],
        msg: message ?? "is not valid",
        type: "value_error",
      }));
      return reply
        .code(422)
        .type("application/problem+json")
        .send(JSON.stringify({ ...body, title: "Unprocessable Content", status: 422, detail, instance: request.url }));
    });
    const accept = createAcceptor(context);
    addRegisterRoutes(scope, context, accept);
    addProcessRoutes(scope, context, accept);
    addJobRoutes(scope, context);
    addTaskRoutes(scope, context);
    addHarvesterRoutes(scope, context);
  });
  return app;
}
