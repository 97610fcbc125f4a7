import { createIssuerCheck, createTokenVerifier, openIssuer, readAdministrators, readAudiences } from "@swath/auth";
import { openDatabase } from "@swath/postgres";
import { auditRequests, runService } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";
import { readyServer } from "@swath/service/fastify";
import { measureLoops } from "@swath/work";
import { mkdir } from "node:fs/promises";

import { createGuard } from "./caller.ts";
import { settings as definitions } from "./config.ts";
import { startDeliveries } from "./deliveries/deliver.ts";
import { findEngine } from "./execution/container-engine.ts";
import { startDispatcher } from "./execution/dispatcher.ts";
import { noHostToolsReason } from "./execution/isolation.ts";
import { readNetworkRule } from "./execution/tool-network/network-rule.ts";
import { openJobChanges } from "./execution/job-changes.ts";
import { deleteOrphanedPods } from "./execution/kubernetes/delete-orphaned-pods.ts";
import { allowedPrivate } from "./execution/storage.ts";
import { measureJobs } from "./metrics.ts";
import { startSweeps } from "./retention/sweep.ts";
import { createProcessingService } from "./service.ts";
import { createAddressGuard } from "./staging/in/addresses.ts";
import { createSpaceOwners } from "./store/space-owners.ts";
import type { Tables } from "./store/tables.ts";

await runService({
  name: "ades",
  settings: definitions,
  build: async ({ settings, logger, metrics, reportWaiting }) => {
    const { IDENTITY_ISSUER: issuerUrl, IDENTITY_INTERNAL_URL: peerUrl, OPEN_HOST: openHost } = settings;
    // An engine that was asked for and is not there is told now, and not by every job.
    findEngine(settings);
    // So is a list of allowed addresses that cannot be understood.
    createAddressGuard(allowedPrivate(settings));
    if (settings.HOST_TOOLS === "open" && settings.EXECUTOR !== "pods") {
      logger.warn("tools without a container run with this service's rights (HOST_TOOLS=open)");
    }
    const refused = settings.HOST_TOOLS === "refused" ? undefined : noHostToolsReason(settings);
    if (refused !== undefined) {
      logger.warn(refused);
    }
    // A list that cannot be understood is told now, too.
    readNetworkRule(settings);
    await mkdir(settings.DATA_DIR, { recursive: true });
    const { db, pool, audit, check, close } = await openDatabase<Tables>({
      url: settings.DATABASE_URL,
      schema: "ades",
      migrations: `${import.meta.dirname}/migrations`,
      onError: (error) => logger.warn({ err: error }, "a database connection broke"),
      onUnavailable: reportWaiting,
    });
    const issuer =
      issuerUrl === undefined
        ? undefined
        : openIssuer({
            issuer: issuerUrl,
            acceptIdTokens: settings.ACCEPT_ID_TOKENS,
            ...(peerUrl !== undefined && { peerUrl }),
          });
    const checkIssuer = createIssuerCheck(issuer);
    const changes = await openJobChanges(db, settings.DATABASE_URL, logger);
    measureJobs(metrics, db, changes);
    const app = await createProcessingService({
      db,
      settings,
      logger,
      limits: new CallerLimits(metrics),
      untilEnded: changes.untilEnded,
      guard: createGuard({
        ...(issuer && { verifier: createTokenVerifier({ issuer }) }),
        audiences: ["ades", ...readAudiences(settings.ACCEPTED_AUDIENCES)],
        administrators: readAdministrators(settings),
        isSpaceOf: createSpaceOwners(db),
        isOpen: settings.AUTHENTICATION === "optional",
        ...(openHost !== undefined && { openHost: openHost.toLowerCase() }),
      }),
    });
    auditRequests(app, audit.note);
    await deleteOrphanedPods(db, settings, logger);
    // oxlint-disable-next-line node/no-process-env -- runners are this program's own processes and read the same environment
    const dispatcher = await startDispatcher({ db, settings, logger, changes, env: process.env });
    const deliveries = await startDeliveries({ db, pool, settings, logger });
    measureLoops(metrics, { deliveries });
    const sweeps = startSweeps({ db, pool, settings, logger });
    return {
      servers: { http: await readyServer(app) },
      ready: async () => {
        await check();
        await checkIssuer();
      },
      close: async () => {
        await dispatcher.stop();
        await deliveries.stop();
        await sweeps.stop();
        await app.close();
        await changes.close();
        await issuer?.close();
        await close();
      },
    };
  },
});
