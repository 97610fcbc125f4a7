import { join } from "node:path";

import type { LogoutTokenVerifier } from "@swath/auth";
import type { OidcClient } from "@swath/auth/login";
import { type Logger, type SecretCheck, toProblem } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import { addWebFiles } from "@swath/service/web";
import type { FastifyInstance } from "fastify";

import { RegistryError } from "../errors.ts";
import { addAdditionRoutes } from "./additions.ts";
import { addArtifactRoutes } from "./artifacts.ts";
import { addAuditRoutes } from "./audit.ts";
import type { ApiContext } from "./context.ts";
import { addCopyRoutes } from "./copies.ts";
import { addDelegateRoutes } from "./delegates.ts";
import { addImmutableRoutes } from "./immutable.ts";
import { addLabelRoutes } from "./labels.ts";
import { addMemberRoutes } from "./members.ts";
import { addProjectMetadataRoutes } from "./project-metadata.ts";
import { addProjectRoutes } from "./projects.ts";
import { addQuotaRoutes } from "./quotas.ts";
import { addRegistryRoutes } from "./registries.ts";
import { addReplicationRoutes } from "./replication.ts";
import { addRepositoryRoutes } from "./repositories.ts";
import { addRetentionRoutes } from "./retention.ts";
import { addRobotRoutes } from "./robots.ts";
import { addScannerRoutes } from "./scanners.ts";
import { addSessionRoutes } from "./session.ts";
import { addSystemRoutes } from "./system.ts";
import { addTrustedKeyRoutes } from "./trusted-keys.ts";
import { addUserRoutes } from "./users.ts";
import { addWebhookRoutes } from "./webhooks.ts";

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

interface ApiOptions extends ApiContext {
  readonly logger: Logger;
  /** Logs people in with the platform's login. */
  readonly client: OidcClient | undefined;
  readonly logoutTokens: LogoutTokenVerifier | undefined;
  /** What the processing service shows for pulls in the names of users. */
  readonly isProcessingSecret: SecretCheck | undefined;
}

/**
 * What is beside the distribution API: a REST API, the common part of that of the known product, so that its scripts work, and the
 * console.
 */
export async function createApi({
  logger,
  client,
  logoutTokens,
  isProcessingSecret,
  ...context
}: ApiOptions): Promise<FastifyInstance> {
  const app = createApp(logger);
  addSessionRoutes(app, { context, client, logoutTokens, logger });
  addDelegateRoutes(app, { delegates: context.access.delegates, isSecret: isProcessingSecret });
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
        addProjectMetadataRoutes,
        addMemberRoutes,
        addImmutableRoutes,
        addRetentionRoutes,
        addWebhookRoutes,
        addTrustedKeyRoutes,
        addRepositoryRoutes,
        addArtifactRoutes,
        addCopyRoutes,
        addAdditionRoutes,
        addLabelRoutes,
        addRobotRoutes,
        addRegistryRoutes,
        addReplicationRoutes,
        addScannerRoutes,
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
  await addWebFiles(app, { directory: join(import.meta.dirname, "../web/dist"), programs: ["/api/", "/service/"] });
  return app;
}

function toKnown(error: unknown) {
  const { status, headers, body } = toProblem(error);
  return { status, headers, message: body.detail };
}
