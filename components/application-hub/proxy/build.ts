import { openListener } from "@swath/postgres";
import { createUpstreams } from "@swath/relay";
import { type Logger, type RunningService, type Settings, createPeer } from "@swath/service";
import { CallerLimits, type MetricsRegistry } from "@swath/service/caller-limits";

import type { proxySettings } from "../config.ts";
import { openFolders } from "../spawners/folders.ts";
import { CHANNEL, openHubDatabase } from "../store/database.ts";
import { createActivityLog } from "./activity.ts";
import { createEgressServer, openEgress } from "./egress.ts";
import { createHubTokens } from "./hub-tokens.ts";
import { createPlatformRelay } from "./platform-relay.ts";
import { createPlatformWay } from "./platform.ts";
import { createRoutes } from "./routes.ts";
import { TUNNEL_PLACES, createProxy } from "./service.ts";
import { createSites } from "./sites.ts";
import { createStandInTokens } from "./stand-in-tokens.ts";
import { type Tunnel, createTunnels } from "./tunnels.ts";

const FLUSH_MS = 5000;
const RECHECK_MS = 10_000;

export async function buildProxy({
  settings,
  logger,
  metrics,
  reportWaiting,
}: {
  readonly settings: Settings<typeof proxySettings>;
  readonly logger: Logger;
  readonly metrics?: MetricsRegistry;
  readonly reportWaiting: (reason: string | undefined) => void;
}): Promise<RunningService> {
  const { PUBLIC_URL: publicUrl, HUB_URL: hubUrl, HUB_SECRET: secret } = settings;
  const sql = await openHubDatabase({
    url: settings.DATABASE_URL,
    connections: 5,
    onError: (error) => logger.warn({ err: error }, "database connection lost"),
    onUnavailable: reportWaiting,
  });
  const hub = createPeer(hubUrl);
  const way = createPlatformWay(settings.PLATFORM_DOMAIN, settings.INGRESS_URL ?? publicUrl, settings.PLATFORM_CA_FILE);
  const routes = createRoutes(sql, createHubTokens(hub, sql));
  const tunnels = createTunnels();
  const activity = createActivityLog(sql);
  const upstreams = createUpstreams({ hasForeignSockets: true });
  const sites = await createSites(logger);
  const relay = createPlatformRelay({
    hub,
    secret,
    way,
    services: JSON.parse(settings.PLATFORM_SERVICES) as Record<string, string>,
  });
  const egress = await openEgress(openFolders(settings.DATA_DIR).shared, way);
  const isGood = async ({ server, credential }: Tunnel): Promise<boolean> =>
    (await routes.find(server.label))?.id === server.id &&
    (await (credential.kind === "cookie"
      ? routes.visitBy(server, credential.value)
      : routes.visitByToken(server, credential.value))) !== undefined;
  const recheck = () =>
    tunnels
      .recheck(isGood)
      .catch((error: unknown) => logger.warn({ err: error }, "open connections were not checked; retrying"));
  const listener = await openListener({
    url: settings.DATABASE_URL,
    channel: CHANNEL,
    onMessage: (table) => {
      // Servers that start and end, and visits that end, take no right away from a token.
      routes.forget(table === "servers" || table === "visits" ? "kept" : "changed");
      if (table !== "servers") {
        void recheck();
      }
    },
    onConnect: () => routes.forget("changed"),
    onError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const timers = [
    setInterval(
      () => void activity.flush().catch((error: unknown) => logger.warn({ err: error }, "activity was not written")),
      FLUSH_MS,
    ),
    setInterval(() => void recheck(), RECHECK_MS),
  ];
  const { protocol, hostname } = new URL(publicUrl);
  const secure = protocol === "https:";
  const cookieName = `${secure ? "__Host-" : ""}swath_server`;
  return {
    servers: {
      http: createProxy({
        sql,
        logger,
        routes,
        upstreams,
        tunnels,
        tunnelPlaces: new CallerLimits(metrics).createPlaces(TUNNEL_PLACES),
        standIns: createStandInTokens(sql),
        activity,
        hubUrl,
        hubHost: hostname,
        publicUrl,
        secure,
        cookieName,
        hiddenCookies: new Set([
          cookieName,
          `${cookieName}_state`,
          ...settings.PLATFORM_COOKIES.split(",").map((name) => name.trim()),
        ]),
        relay,
        serveSite: sites.serve,
      }),
      // For servers that are pods; those of this machine have sockets.
      platform: createEgressServer("platform", way),
      internet: createEgressServer("internet", way),
    },
    ready: sql.check,
    close: async () => {
      timers.forEach(clearInterval);
      tunnels.endAll();
      egress.close();
      relay.close();
      upstreams.close();
      await activity.flush().catch(() => {});
      await listener.close();
      await sites.close();
      await hub.close();
      await sql.close();
    },
  };
}
