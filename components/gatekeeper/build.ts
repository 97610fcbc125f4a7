import {
  type LogoutTokenVerifier,
  createLogoutTokenVerifier,
  createTokenVerifier,
  openIssuer,
  readAudiences,
  createIssuerCheck,
} from "@swath/auth";
import { createUpstreams } from "@swath/relay";
import { type RunningService, type ServiceContext, type Settings, createPeer } from "@swath/service";

import type { settings as definitions } from "./config.ts";
import type { Enforcement } from "./enforcement/handle.ts";
import { parseHosts } from "./hosts.ts";
import { createMetrics } from "./metrics.ts";
import { createPermissionTickets } from "./oauth/permission-tickets.ts";
import { createLoginFlow } from "./oauth/login-flow.ts";
import { createDeclaredPolicies } from "./policies/declared-policies.ts";
import { createIdentityPolicies } from "./policies/identity-policies.ts";
import type { Guard } from "./check-request.ts";
import { createTunnels } from "./proxy/tunnels.ts";
import { createGatekeeper } from "./service.ts";
import { createTokenFinder } from "./tokens/find-token.ts";
import { createRefresher } from "./tokens/refresher.ts";
import { createSealer } from "./tokens/seal.ts";
import { createShownKeys } from "./tokens/shown-keys.ts";
import { createTokenCookies } from "./tokens/token-cookies.ts";
import { createTokenEndpoint } from "./tokens/token-endpoint.ts";

interface BuildOptions extends Omit<ServiceContext<Settings<typeof definitions>>, "reportWaiting"> {
  /** Where GATEKEEPER_HOSTS finds the addresses and secrets that it names. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock?: () => number;
}

/** Puts the gatekeeper together from its settings. */
export async function buildGatekeeper({
  settings,
  env,
  logger,
  metrics,
  clock = Date.now,
}: BuildOptions): Promise<RunningService> {
  const hosts = parseHosts(settings.GATEKEEPER_HOSTS, env);
  const clients = new Map(hosts.all.map(({ credentials }) => [credentials.clientId, credentials]));
  const names = { access: settings.ACCESS_COOKIE, refresh: settings.REFRESH_COOKIE };
  const cookies = createTokenCookies({
    names,
    domain: `.${settings.PLATFORM_DOMAIN}`,
    sealer: createSealer(settings.ENCRYPTION_KEY, "refresh", settings.ENCRYPTION_KEY_ALSO),
    isOwnClient: (clientId) => clients.has(clientId),
  });
  const origins = [
    ...settings.PAGE_ORIGINS.split(",").map((origin) => origin.trim()),
    ...hosts.all.map(({ url }) => url),
  ];
  const pages = {
    domain: settings.PLATFORM_DOMAIN,
    ...(settings.PAGE_ORIGINS !== "" && { origins: new Set(origins.map((origin) => origin.toLowerCase())) }),
  };
  const upstreams = createUpstreams();
  const tunnels = createTunnels();
  const closing: (() => Promise<void>)[] = [];

  let enforcement: Enforcement | undefined;
  const createGuard = (issuerUrl: string): Guard => {
    const { IDENTITY_INTERNAL_URL: peerUrl, IDENTITY_REALM: realm } = settings;
    const issuer = openIssuer({
      issuer: issuerUrl,
      acceptIdTokens: settings.ACCEPT_ID_TOKENS,
      ...(peerUrl !== undefined && { peerUrl }),
      clock,
    });
    const verifier = createTokenVerifier({
      issuer,
      clock,
      claimNames: {
        username: settings.USERNAME_CLAIM,
        ...(settings.ROLES_CLAIM !== undefined && { roles: settings.ROLES_CLAIM }),
      },
    });
    const endTunnels = tunnels.endWhere;
    const peer = peerUrl === undefined ? undefined : createPeer(peerUrl);
    const maxAge = settings.POLICY_MAX_AGE * 1000;
    const policies =
      peer === undefined
        ? createDeclaredPolicies({
            clients: new Map(hosts.all.map(({ credentials, resources }) => [credentials.clientId, resources])),
            endTunnels,
            clock,
            databaseUrl: settings.DATABASE_URL,
            logger,
          })
        : createIdentityPolicies({
            peer,
            realm,
            issuer,
            keys: verifier.keys,
            clients,
            endTunnels,
            logger,
            clock,
            maxAge,
          });
    enforcement = peer === undefined || !settings.ACCEPT_ID_TOKENS ? undefined : { peer, realm };
    closing.push(
      () => policies.close(),
      () => issuer.close(),
      async () => peer?.close(),
    );
    const endpoint = createTokenEndpoint({ issuer, clients });
    const defaultClient = settings.PORTAL_CLIENT_ID;
    const sealer = createSealer(settings.ENCRYPTION_KEY, "login", settings.ENCRYPTION_KEY_ALSO);
    const logoutTokens = new Map<string, LogoutTokenVerifier>(
      [...clients.keys()].map((clientId) => [
        clientId,
        createLogoutTokenVerifier({ issuer, clientId, keys: verifier.keys, clock }),
      ]),
    );
    const flow = createLoginFlow({ issuer, sealer, clock });
    return {
      issuer,
      verifier,
      policies,
      finder: createTokenFinder({
        verifier,
        policies,
        cookies,
        refresher: createRefresher({ endpoint, defaultClient, clock }),
        shownKeys: createShownKeys(clock),
      }),
      endpoints: {
        issuer,
        endpoint,
        flow,
        cookies,
        policies,
        logoutTokens: (clientId) => logoutTokens.get(clientId) as LogoutTokenVerifier,
        domain: settings.PLATFORM_DOMAIN,
        pages,
        defaultClient,
      },
      ...((settings.UMA || settings.ACCEPT_ID_TOKENS) &&
        peer !== undefined && {
          tickets: createPermissionTickets({ endpoint, peer, realm, issuer: issuerUrl, logger, clock }),
        }),
      challengesWithTickets: settings.UMA || settings.ACCEPT_ID_TOKENS,
      audiences: readAudiences(settings.ACCEPTED_AUDIENCES),
      ...(settings.CHALLENGE_REALM !== undefined && { challengeRealm: settings.CHALLENGE_REALM }),
    };
  };
  const guard = settings.IDENTITY_ISSUER === undefined ? undefined : createGuard(settings.IDENTITY_ISSUER);
  const checkIssuer = createIssuerCheck(guard?.issuer);

  const server = createGatekeeper({
    hosts,
    guard,
    enforcement,
    cookies,
    pages,
    upstreams,
    tunnels,
    metrics: createMetrics(metrics),
    logger,
    clock,
  });
  return {
    servers: { http: server },
    measuresRequests: true,
    ready: async () => {
      await guard?.policies.ready();
      await checkIssuer();
    },
    close: async () => {
      tunnels.endAll();
      upstreams.close();
      for (const close of closing) {
        await close();
      }
    },
  };
}
