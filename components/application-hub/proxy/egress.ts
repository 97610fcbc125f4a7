import { createAddressGuard, isPublicAddress } from "@swath/addresses";
import { createForwardProxy } from "@swath/relay";
import type { Server } from "node:http";
import { type LookupFunction, isIP } from "node:net";
import { join } from "node:path";

import { listenForServers } from "../spawners/listen-for-servers.ts";
import type { PlatformWay } from "./platform.ts";

const MAX_CONNECTIONS = 4096;

const guard = createAddressGuard({
  allowPrivate: [],
  refuse: (where) => new Error(`${where} leads to a private address; servers do not reach it`),
});

/** What servers may reach: the platform's hosts, or every public address as well. */
type EgressPolicy = "platform" | "internet";

/**
 * HTTP proxies on sockets (RFC 9110 §7.6, CONNECT of §9.3.6), one for each policy: a server that has no network of its own sees the one
 * of its profile. Nothing of this machine and of private networks is reached, except the platform's public hosts at its public port.
 */
export async function openEgress(folder: string, way: PlatformWay): Promise<{ readonly close: () => void }> {
  const servers: Server[] = [];
  for (const policy of ["platform", "internet"] as const) {
    const server = createEgressServer(policy, way);
    await listenForServers(server, join(folder, policy));
    servers.push(server);
  }
  return {
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

export function createEgressServer(policy: EgressPolicy, way: PlatformWay): Server {
  return createForwardProxy({
    whyNot: (host, port) => whyNot(host, port, policy, way),
    lookup: (host) => (way.isPlatform(host) ? way.lookup : (guard.lookup as LookupFunction)),
    maxConnections: MAX_CONNECTIONS,
  });
}

function whyNot(host: string, port: number, policy: EgressPolicy, way: PlatformWay): string | undefined {
  if (way.isPlatform(host)) {
    return port === way.port ? undefined : `${host} is a host of the platform; its port is ${way.port}`;
  }
  if (policy === "platform") {
    return `${host} is no host of the platform; servers of this profile reach nothing else (egress: platform)`;
  }
  if (host === "localhost" || host.endsWith(".localhost")) {
    return `${host} is this machine; servers do not reach it`;
  }
  return isIP(host) !== 0 && !isPublicAddress(host)
    ? `${host} is a private address; servers do not reach it`
    : undefined;
}
