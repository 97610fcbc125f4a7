import type { Server } from "node:http";
import { type LookupFunction, isIP } from "node:net";
import { networkInterfaces } from "node:os";

import { createForwardProxy } from "@swath/relay";
import type { AddressGuard } from "@swath/addresses";
import ipaddr from "ipaddr.js";

import { createAddressGuard } from "../../staging/in/addresses.ts";
import { type AdesSettings, allowedPrivate } from "../storage.ts";

/** Connections of one job's tools at the same time. */
const MAX_CONNECTIONS = 256;

type ProxySettings = Pick<AdesSettings, "ALLOW_PRIVATE" | "PLATFORM_DOMAIN" | "PUBLIC_URL" | "OPEN_HOST">;

interface Rules {
  readonly settings: ProxySettings;
  readonly guard: AddressGuard;
  readonly isOwn: (address: string) => boolean;
}

/**
 * An HTTP proxy on a socket (RFC 9110 §7.6, CONNECT of §9.3.6) that leads tools to the internet, and to private addresses that
 * the operator allows; never to this machine, link-local addresses or hosts of the platform.
 */
export async function openToolProxy(
  path: string,
  settings: ProxySettings,
  isOwn: (address: string) => boolean = isOwnAddress,
): Promise<{ readonly close: () => Promise<void> }> {
  const rules = { settings, isOwn, guard: createAddressGuard(allowedPrivate(settings as AdesSettings)) };
  const server = createForwardProxy({
    whyNot: (host) => whyNot(host, rules),
    lookup: () => createLookup(rules),
    maxConnections: MAX_CONNECTIONS,
  });
  await listen(server, path);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Why a tool may not reach a host by its name; addresses that names lead to are checked when they are connected to. */
function whyNot(host: string, { settings, guard, isOwn }: Rules): string | undefined {
  const platform = [
    settings.PLATFORM_DOMAIN,
    new URL(settings.PUBLIC_URL).hostname,
    settings.OPEN_HOST?.split(":", 1)[0],
  ];
  if (
    platform.some((own) => own !== undefined && (host === own.toLowerCase() || host.endsWith(`.${own.toLowerCase()}`)))
  ) {
    return `${host} is a host of the platform; tools reach none of them`;
  }
  if (host === "localhost" || host.endsWith(".localhost")) {
    return `${host} is this machine; tools do not reach it`;
  }
  if (isIP(host) === 0) {
    return undefined;
  }
  try {
    guard.checkHost(host, host);
  } catch (error) {
    return (error as Error).message;
  }
  return isOwn(host) ? `${host} is this machine or its link; tools do not reach it` : undefined;
}

/** As the guard resolves, without addresses of this machine, whatever the operator allows. */
function createLookup({ guard, isOwn }: Rules): LookupFunction {
  return (hostname, options, callback) =>
    guard.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const list = (Array.isArray(addresses) ? addresses : []).filter(({ address }) => !isOwn(address));
      const [first] = list;
      if (error !== null || first === undefined) {
        callback(error ?? new Error(`${hostname} leads to this machine; tools do not reach it`), "", 0);
      } else if (options.all === true) {
        callback(null, list);
      } else {
        callback(null, first.address, first.family);
      }
    });
}

/** Loopback, link-local and unspecified addresses, and those of this machine's interfaces. */
function isOwnAddress(text: string): boolean {
  const address = ipaddr.process(text);
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((item) => item.address));
  return (
    ["loopback", "linkLocal", "unspecified"].includes(address.range()) ||
    own.some(
      (each) => ipaddr.isValid(each) && ipaddr.process(each).toNormalizedString() === address.toNormalizedString(),
    )
  );
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}
