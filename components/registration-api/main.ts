import {
  createCallerOf,
  createIssuerCheck,
  createTokenVerifier,
  openIssuer,
  readAdministrators,
  readAudiences,
} from "@swath/auth";
import { openDatabase } from "@swath/postgres";
import { auditRequests, createSecretCheck, runService } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";
import { readyServer } from "@swath/service/fastify";

import { apiSettings } from "./config.ts";
import { createInternalApi } from "./http/internal.ts";
import { measureQueue } from "./queue/metrics.ts";
import { createRegistrationApi } from "./service.ts";

await runService({
  name: "registration-api",
  settings: apiSettings,
  build: async ({ settings, logger, metrics, reportWaiting }) => {
    const { IDENTITY_ISSUER: issuerUrl, IDENTITY_INTERNAL_URL: identityUrl } = settings;
    const { pool, audit, check, close } = await openDatabase({
      url: settings.DATABASE_URL,
      schema: "registration",
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
    const app = await createRegistrationApi(logger, {
      pool,
      publicUrl: settings.PUBLIC_URL ?? "",
      catalogueUrl: (settings.CATALOGUE_PUBLIC_URL ?? "").replace(/\/+$/, ""),
      limits: new CallerLimits(metrics),
      callerOf: createCallerOf({
        ...(issuer && { verifier: createTokenVerifier({ issuer }) }),
        audiences: ["registration-api", ...readAudiences(settings.ACCEPTED_AUDIENCES)],
        administrators: readAdministrators(settings),
        isOpen: settings.AUTHENTICATION === "optional",
        realm: "registration-api",
        ...(settings.OPEN_HOST !== undefined && { openHost: settings.OPEN_HOST.toLowerCase() }),
      }),
    });
    auditRequests(app, audit.note);
    const internal = createInternalApi({
      logger,
      pool,
      isSecret: createSecretCheck(settings.INTERNAL_SECRET, settings.INTERNAL_SECRET_ALSO),
      publicUrl: settings.PUBLIC_URL,
    });
    measureQueue(metrics, pool);
    return {
      servers: { http: await readyServer(app), internal: await readyServer(internal) },
      ready: async () => {
        await check();
        await checkIssuer();
      },
      close: async () => {
        await app.close();
        await internal.close();
        await issuer?.close();
        await close();
      },
    };
  },
});
