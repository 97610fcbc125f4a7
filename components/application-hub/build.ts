import {
  createIssuerCheck,
  createLogoutTokenVerifier,
  createTokenVerifier,
  openIssuer,
  readAdministrators,
  readAudiences,
} from "@swath/auth";
import { createLoginFlow, createOidcClient } from "@swath/auth/login";
import {
  auditRequests,
  type Logger,
  type RunningService,
  type Settings,
  SettingsError,
  createPeer,
  listen,
  parseListenAddress,
} from "@swath/service";
import { CallerLimits, type MetricsRegistry } from "@swath/service/caller-limits";
import { readyServer } from "@swath/service/fastify";
import { join } from "node:path";

import { createCallerFinder } from "./api/caller.ts";
import { createApi } from "./api/api.ts";
import { PROGRESS_STREAMS } from "./api/servers.ts";
import type { hubSettings } from "./config.ts";
import type { HubContext } from "./context.ts";
import { toOwnPath } from "./pages/login.ts";
import { openProfiles } from "./profiles/profiles.ts";
import { environmentOf } from "./servers/environment.ts";
import { createLifecycle } from "./servers/lifecycle.ts";
import { createUsageSamples, startWatch } from "./servers/watch.ts";
import { createHub } from "./service.ts";
import { createLogins } from "./session/logins.ts";
import { createHubKeys } from "./session/seal.ts";
import { openFolders } from "./spawners/folders.ts";
import { listenForServers } from "./spawners/listen-for-servers.ts";
import { openPods } from "./spawners/pods/open-pods.ts";
import { createSpawners } from "./spawners/spawners.ts";
import { openHubDatabase } from "./store/database.ts";
import { createStorageWay } from "./workspace/storage-way.ts";
import { createStorageKeys } from "./workspace/storage-keys.ts";

type HubSettings = Settings<typeof hubSettings>;

/** Milliseconds between looks at logins. */
const CHECK_LOGINS_MS = 15_000;

export async function buildHub({
  settings,
  logger,
  metrics,
  reportWaiting,
}: {
  readonly settings: HubSettings;
  readonly logger: Logger;
  readonly metrics?: MetricsRegistry;
  readonly reportWaiting: (reason: string | undefined) => void;
}): Promise<RunningService> {
  const { PUBLIC_URL: publicUrl, IDENTITY_ISSUER: issuerUrl, IDENTITY_INTERNAL_URL: peerUrl } = settings;
  const services = readJson<Record<string, string>>(settings.PLATFORM_SERVICES, "PLATFORM_SERVICES");
  const serviceTokens = readJson<Record<string, { token: string; scopes: string[] }>>(
    settings.SERVICE_TOKENS,
    "SERVICE_TOKENS",
  );
  const sql = await openHubDatabase({
    url: settings.DATABASE_URL,
    onError: (error) => logger.warn({ err: error }, "database connection lost"),
    onUnavailable: reportWaiting,
  });
  const peer = peerUrl === undefined ? {} : { peerUrl };
  const issuer =
    issuerUrl === undefined
      ? undefined
      : openIssuer({ issuer: issuerUrl, ...peer, acceptIdTokens: settings.ACCEPT_ID_TOKENS });
  const checkIssuer = createIssuerCheck(issuer);
  const client =
    issuerUrl === undefined
      ? undefined
      : createOidcClient({ issuer: issuerUrl, clientId: settings.CLIENT_ID, ...peer });
  const storage = settings.S3_URL === undefined ? undefined : createPeer(settings.S3_URL);
  const sealer = createHubKeys(settings.HUB_SECRET);
  const logins = createLogins({
    sql,
    client,
    verifier: issuer && createTokenVerifier({ issuer }),
    audiences: [settings.CLIENT_ID, ...readAudiences(settings.ACCEPTED_AUDIENCES)],
    administrators: readAdministrators(settings),
    sealer,
    logger,
  });
  const folders = openFolders(settings.DATA_DIR);
  const pods = openPods(settings);
  const spawners = createSpawners({
    folders,
    pods: pods?.spawner,
    engine: settings.CONTAINER_ENGINE,
    hasStorage: settings.S3_URL !== undefined,
    authorityFile: settings.PLATFORM_CA_FILE,
  });
  const { protocol, host } = new URL(publicUrl);
  const originOf = (label: string) => `${protocol}//${label}.${host}`;
  const s3 =
    settings.S3_PUBLIC_URL === undefined ? undefined : { url: settings.S3_PUBLIC_URL, region: settings.S3_REGION };
  const quotas = {
    servers: settings.USER_SERVERS,
    cores: settings.USER_CORES,
    memoryBytes: settings.USER_MEMORY_MIB * 2 ** 20,
  };
  const samples = createUsageSamples();
  const lifecycle = createLifecycle({
    sql,
    logger,
    quotas,
    spawnerFor: spawners.of,
    startTimeoutMs: settings.START_TIMEOUT * 1000,
    originOf,
    environmentOf: (server, token) =>
      environmentOf({ publicUrl, originOf, services, s3, workspacePrefix: settings.WORKSPACE_PREFIX }, server, token),
  });
  const cookieName = `${protocol === "https:" ? "__Host-" : ""}swath_hub`;
  const context: HubContext = {
    sql,
    logger,
    publicUrl,
    cookieName,
    callers: createCallerFinder({ sql, logins, sealer, cookieName, services: serviceTokens }),
    logins,
    logoutTokens: issuer && createLogoutTokenVerifier({ issuer, clientId: settings.CLIENT_ID }),
    flow:
      client &&
      createLoginFlow({
        client,
        publicUrl,
        callbackPath: "/hub/oauth_callback",
        cookiePrefix: "swath_hub_login_",
        readReturnPath: toOwnPath,
      }),
    endSessionUrl: async () => (await client?.configuration())?.serverMetadata().end_session_endpoint,
    profiles: openProfiles(sql, settings.PROFILES_FILE),
    lifecycle,
    samples,
    storageKeys: createStorageKeys(storage),
    services,
    serviceTokens: Object.keys(serviceTokens),
    s3,
    workspacePrefix: settings.WORKSPACE_PREFIX,
    hubSecret: settings.HUB_SECRET,
    originOf,
    quotas,
    progressStreams: new CallerLimits(metrics).createPlaces(PROGRESS_STREAMS),
  };
  const app = await createHub(context);
  const inner = await createApi(context);
  auditRequests(app, sql.audit.note);
  auditRequests(inner, sql.audit.note);
  const innerServer = await readyServer(inner);
  await listenForServers(innerServer, join(folders.shared, "hub"));
  const storageWays =
    settings.S3_URL === undefined ? [] : [createStorageWay(settings.S3_URL), createStorageWay(settings.S3_URL)];
  const [inside, forPods] = storageWays;
  if (inside !== undefined) {
    await listenForServers(inside, join(folders.shared, "hub"), "storage");
  }
  if (forPods !== undefined && settings.LISTEN_STORAGE !== undefined) {
    await listen(forPods, parseListenAddress(settings.LISTEN_STORAGE));
  }
  const watch = startWatch({
    sql,
    logger,
    lifecycle,
    spawnerFor: spawners.of,
    lease: folders.lease,
    idleSeconds: settings.IDLE_TIMEOUT,
    maxAgeSeconds: settings.MAX_AGE,
    samples,
  });
  await lifecycle.resume();
  const checking = setInterval(() => {
    logins.check().catch((error: unknown) => logger.warn({ err: error }, "failed to check logins; retrying"));
  }, CHECK_LOGINS_MS);
  return {
    servers: { http: await readyServer(app) },
    ready: async () => {
      await sql.check();
      await checkIssuer();
    },
    close: async () => {
      clearInterval(checking);
      innerServer.close();
      storageWays.forEach((way) => way.close());
      innerServer.closeAllConnections();
      await watch.close();
      await lifecycle.close();
      await Promise.all([app.close(), inner.close()]);
      await Promise.all([issuer?.close(), client?.close(), storage?.close(), pods?.close()]);
      await sql.close();
    },
  };
}

function readJson<T>(text: string, name: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new SettingsError([`${name} is not JSON (${(error as Error).message})`]);
  }
}
