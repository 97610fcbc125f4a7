import { createForwardProxy } from "@swath/relay";
import ipaddr from "ipaddr.js";
import { lookup } from "node:dns";
import type { Server } from "node:http";
import { type LookupFunction, isIP } from "node:net";
import { join } from "node:path";

import { listenForServers } from "../spawners/listen-for-servers.ts";
import type { PlatformWay } from "./platform.ts";

const MAX_CONNECTIONS = 4096;

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
    lookup: (host) => (way.isPlatform(host) ? way.lookup : publicLookup),
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
  return isIP(host) !== 0 && !isPublic(host) ? `${host} is a private address; servers do not reach it` : undefined;
}

/** Resolves to public addresses alone; the connection goes to what was checked, and is not resolved again. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const allowed = error === null ? addresses.filter(({ address }) => isPublic(address)) : [];
    const [first] = allowed;
    if (error !== null || first === undefined) {
      callback(error ?? new Error(`${hostname} leads to a private address; servers do not reach it`), "", 0);
    } else if (options.all === true) {
      callback(null, allowed);
    } else {
      callback(null, first.address, first.family);
    }
  });
};

const isPublic = (address: string): boolean => ipaddr.isValid(address) && ipaddr.process(address).range() === "unicast";
