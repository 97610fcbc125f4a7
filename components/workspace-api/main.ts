import {
  createCallerOf,
  createIssuerCheck,
  createTokenVerifier,
  openIssuer,
  readAdministrators,
  readAudiences,
} from "@swath/auth";
import { openDatabase } from "@swath/postgres";
import { auditRequests, createPeer, createSecretCheck, runService } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";
import { readyServer } from "@swath/service/fastify";

import { createIdentityAdmin } from "./clients/identity-admin.ts";
import { createRegistrationClient } from "./clients/registration.ts";
import { apiSettings } from "./config.ts";
import { handOnKept } from "./routes/hand-on-kept.ts";
import { createInternalApi } from "./routes/internal.ts";
import { createWorkspaceApi } from "./service.ts";
import type { Tables } from "./store/tables.ts";

await runService({
  name: "workspace-api",
  settings: apiSettings,
  build: async ({ settings, logger, metrics, reportWaiting }) => {
    const { IDENTITY_ISSUER: issuerUrl, IDENTITY_INTERNAL_URL: identityUrl, S3_ENDPOINT: endpoint } = settings;
    const { db, audit, check, close } = await openDatabase<Tables>({
      url: settings.DATABASE_URL,
      schema: "workspace",
      migrations: `${import.meta.dirname}/migrations`,
      onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
      onUnavailable: reportWaiting,
    });
    const issuer =
      issuerUrl === undefined
        ? undefined
        : openIssuer({
            issuer: issuerUrl,
            acceptIdTokens: settings.ACCEPT_ID_TOKENS,
            ...(identityUrl !== undefined && { peerUrl: identityUrl }),
          });
    const checkIssuer = createIssuerCheck(issuer);
    const peer = identityUrl === undefined ? undefined : createPeer(identityUrl);
    const { REGISTRATION_URL: registrationUrl, REGISTRATION_SECRET: registrationSecret } = settings;
    const registration =
      registrationUrl === undefined || registrationSecret === undefined
        ? undefined
        : createRegistrationClient(registrationUrl, registrationSecret);
    const context = {
      db,
      ...(registration && { registration }),
      prefix: settings.PREFIX_FOR_NAME,
      limits: new CallerLimits(metrics),
      creation: {
        by: settings.WORKSPACE_CREATION as "operators" | "self-service",
        limitPerUser: settings.WORKSPACE_LIMIT_PER_USER,
      },
      callerOf: createCallerOf({
        ...(issuer && { verifier: createTokenVerifier({ issuer }) }),
        audiences: ["workspace-api", ...readAudiences(settings.ACCEPTED_AUDIENCES)],
        administrators: readAdministrators(settings),
        isOpen: settings.AUTHENTICATION === "optional",
        realm: "workspace-api",
        ...(settings.OPEN_HOST !== undefined && { openHost: settings.OPEN_HOST.toLowerCase() }),
      }),
      ...(peer && {
        identityAs: (token: string) =>
          createIdentityAdmin({
            peer,
            realm: settings.IDENTITY_REALM,
            tokens: { get: () => Promise.resolve(token), drop: () => {} },
          }),
      }),
      ...(endpoint !== undefined && { storage: { endpoint, region: settings.S3_REGION } }),
    };
    const app = await createWorkspaceApi(logger, context);
    auditRequests(app, audit.note);
    const stopHandingOn = registration === undefined ? () => {} : handOnKept(db, registration, logger);
    const isSecret = createSecretCheck(settings.INTERNAL_SECRET, settings.INTERNAL_SECRET_ALSO);
    const internal = createInternalApi({ logger, context, isSecret });
    return {
      servers: { http: await readyServer(app), internal: await readyServer(internal) },
      ready: async () => {
        await check();
        await checkIssuer();
      },
      close: async () => {
        stopHandingOn();
        await app.close();
        await internal.close();
        await issuer?.close();
        await peer?.close();
        await registration?.close();
        await close();
      },
    };
  },
});
