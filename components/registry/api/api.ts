import { type Logger, toProblem } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import type { FastifyInstance } from "fastify";

import { RegistryError } from "../errors.ts";
import { addArtifactRoutes } from "./artifacts.ts";
import { addAuditRoutes } from "./audit.ts";
import type { ApiContext } from "./context.ts";
import { addImmutableRoutes } from "./immutable.ts";
import { addMemberRoutes } from "./members.ts";
import { addProjectRoutes } from "./projects.ts";
import { addQuotaRoutes } from "./quotas.ts";
import { addRepositoryRoutes } from "./repositories.ts";
import { addRobotRoutes } from "./robots.ts";
import { addSystemRoutes } from "./system.ts";
import { addUserRoutes } from "./users.ts";

/** Names of errors as the API has them, by status. */
const CODES: Readonly<Record<number, string>> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "CONFLICT",
  412: "PRECONDITION",
  429: "TOO_MANY_REQUESTS",
};

/** The REST API beside the distribution API: the common part of that of the known product, so that its scripts work. */
export function createApi({ logger, ...context }: ApiContext & { readonly logger: Logger }): FastifyInstance {
  const app = createApp(logger);
  app.register(
    (api, _options, done) => {
      api.setErrorHandler((error, request, reply) => {
        const known =
          error instanceof RegistryError
            ? { status: error.status, message: error.message, headers: error.headers }
            : toKnown(error);
        if (known.status >= 500) {
          request.log.error({ err: error }, "request failed");
        }
        const code = CODES[known.status] ?? "UNKNOWN";
        return reply
          .code(known.status)
          .headers(known.headers)
          .send({ errors: [{ code, message: known.message }] });
      });
      for (const add of [
        addSystemRoutes,
        addProjectRoutes,
        addMemberRoutes,
        addImmutableRoutes,
        addRepositoryRoutes,
        addArtifactRoutes,
        addRobotRoutes,
        addQuotaRoutes,
        addUserRoutes,
        addAuditRoutes,
      ]) {
        add(api, context);
      }
      done();
    },
    { prefix: "/api/v2.0" },
  );
  return app;
}

function toKnown(error: unknown) {
  const { status, headers, body } = toProblem(error);
  return { status, headers, message: body.detail };
}
