import { join } from "node:path";

import { createIssuerCheck, createTokenVerifier, openIssuer, readAdministrators, readAudiences } from "@swath/auth";
import { createLoginFlow, createOidcClient } from "@swath/auth/login";
import { type RunningService, type ServiceContext, type Settings } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";
import { readyServer } from "@swath/service/fastify";

import { openAuditSearch } from "./admin/audit-search.ts";
import { createEmbeddedStatus } from "./admin/embedded-status.ts";
import { createKubernetesStatus } from "./admin/kubernetes-status.ts";
import { createListUsers } from "./admin/list-users.ts";
import type { PlatformStatus } from "./admin/platform-status.ts";
import { createRequireAdmin } from "./admin/require-admin.ts";
import type { settings as definitions } from "./config.ts";
import { createWorkspaceStorage } from "./files/workspace-storage.ts";
import type { AuthDeps } from "./routes/auth.ts";
import { createPortal } from "./service.ts";
import { createHealthHistory } from "./services/health-history.ts";
import { createHealthChecker } from "./services/health.ts";
import { type Registry, openRegistry } from "./services/registry.ts";
import { createSessionChecker } from "./session/session-checker.ts";
import { createRefresher } from "./session/refresher.ts";
import { readReturnPath } from "./session/return-path.ts";
import { type SessionFinder, createSessionFinder } from "./session/session.ts";
import { chooseTokens, createTokenCookies } from "./session/token-cookies.ts";

type PortalSettings = Settings<typeof definitions>;

interface BuildOptions extends Omit<ServiceContext<PortalSettings>, "reportWaiting"> {
  /** Where PORTAL_SERVICES finds the addresses that it names. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Puts the portal together from its settings. */
export async function buildPortal({ settings, logger, metrics, env }: BuildOptions): Promise<RunningService> {
  const registry = openRegistry(settings.PORTAL_SERVICES, env);
  const status = createStatus(settings);
  const login = createLogin(settings);
  const workspaceApi = registry.find("workspace-api");
  const storage =
    workspaceApi === undefined || settings.S3_ENDPOINT === undefined
      ? undefined
      : createWorkspaceStorage(workspaceApi, settings.S3_ENDPOINT);
  const health = createHealthChecker(registry);
  const healthHistory = createHealthHistory(health);
  const identity = ownIdentity(registry, settings);
  const audit =
    settings.DATABASE_URL === undefined
      ? undefined
      : await openAuditSearch(settings.DATABASE_URL, (error) =>
          logger.warn({ err: error }, "database connection lost"),
        );
  const app = await createPortal({
    logger,
    settings,
    ...(login && { auth: login.auth, sessions: login.sessions }),
    registry,
    health,
    healthHistory,
    storage,
    limits: new CallerLimits(metrics),
    requireAdmin: createRequireAdmin(identity, settings.REALM),
    listUsers: createListUsers(identity, settings.REALM),
    audit,
    status,
    webRoot: settings.WEB_ROOT ?? join(import.meta.dirname, "web/dist"),
  });
  return {
    servers: { http: await readyServer(app) },
    ...(login && { ready: login.ready }),
    close: async () => {
      healthHistory.close();
      storage?.close();
      await Promise.all([login?.close(), status?.close(), registry.close(), audit?.close()]);
    },
  };
}

function createLogin(settings: PortalSettings):
  | {
      readonly auth: AuthDeps;
      readonly sessions: SessionFinder;
      readonly ready: () => Promise<void>;
      readonly close: () => Promise<void>;
    }
  | undefined {
  const { IDENTITY_ISSUER: issuerUrl, IDENTITY_INTERNAL_URL: peerUrl, CLIENT_ID: clientId, PUBLIC_URL: url } = settings;
  if (issuerUrl === undefined) {
    return undefined;
  }
  const useIdTokens = settings.ACCEPT_ID_TOKENS;
  const peer = { ...(peerUrl !== undefined && { peerUrl }) };
  const issuer = openIssuer({ issuer: issuerUrl, acceptIdTokens: settings.ACCEPT_ID_TOKENS, ...peer });
  const client = createOidcClient({ issuer: issuerUrl, clientId, ...peer });
  const watch = createSessionChecker(client);
  const cookies = createTokenCookies({
    accessName: settings.ACCESS_TOKEN_NAME,
    accessDomain: settings.ACCESS_TOKEN_DOMAIN,
    refreshName: settings.REFRESH_TOKEN_NAME,
    refreshDomain: settings.REFRESH_TOKEN_DOMAIN,
    secure: url.startsWith("https:"),
  });
  const flow = createLoginFlow({
    client,
    publicUrl: url,
    // The known one of variant B, which client registrations name.
    callbackPath: useIdTokens ? "/oidc/callback/" : "/auth/callback",
    ...(useIdTokens && { scope: "openid profile email user_name is_operator" }),
    cookiePrefix: "portal_login_",
    readReturnPath,
  });
  return {
    auth: {
      client,
      cookies,
      publicUrl: url,
      flow,
      toKept: (tokens) => chooseTokens(tokens, useIdTokens),
      forget: watch.forget,
    },
    sessions: createSessionFinder({
      verifier: createTokenVerifier({ issuer }),
      refresher: createRefresher(client, { useIdTokens }),
      cookies,
      isAlive: watch.isAlive,
      audiences: [clientId, ...readAudiences(settings.ACCEPTED_AUDIENCES)],
      administrators: readAdministrators(settings),
    }),
    ready: createIssuerCheck(issuer),
    close: async () => {
      await Promise.all([issuer.close(), client.close()]);
    },
  };
}

function createStatus(settings: PortalSettings): PlatformStatus | undefined {
  const { PLATFORM_STATUS: where, PLATFORM_NAME: deployment } = settings;
  if (where === undefined) {
    return undefined;
  }
  if (where !== "kubernetes") {
    return createEmbeddedStatus(where);
  }
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = settings;
  return host === undefined ? undefined : createKubernetesStatus({ host, port, deployment });
}

/** The platform's own identity service, where it is the one that people log in to. */
function ownIdentity(registry: Registry, { IDENTITY_INTERNAL_URL: peer }: PortalSettings) {
  return peer === undefined ? undefined : (registry.find("identity") ?? registry.find("auth"));
}
