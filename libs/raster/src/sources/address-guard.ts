import { type LookupAddress, lookup } from "node:dns";
import { BlockList, type LookupFunction, isIP } from "node:net";

import { RasterError } from "../errors.ts";

/** Addresses that are not of the public Internet (RFC 6890 and the metadata services of clouds within link-local). */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  PRIVATE.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 96],
  ["::1", 128],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  PRIVATE.addSubnet(network, prefix, "ipv6");
}

/** @throws {RasterError} `forbidden` for a URL whose host is a private address or that is not HTTP */
export function checkPublicUrl(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if ((url.protocol !== "http:" && url.protocol !== "https:") || (isIP(host) !== 0 && isPrivateAddress(host))) {
    throw refused();
  }
}

/** Looks names up and refuses private addresses at the moment of connecting, so that a changed name cannot go around it. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) {
      callback(error, "", 0);
      return;
    }
    const allowed = addresses.filter(({ address }) => !isPrivateAddress(address));
    const [first] = allowed;
    if (first === undefined) {
      callback(refused(), "", 0);
    } else if (options.all === true) {
      (callback as unknown as (error: null, addresses: LookupAddress[]) => void)(null, allowed);
    } else {
      callback(null, first.address, first.family);
    }
  });
};

export function isPrivateAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return mapped !== undefined
    ? PRIVATE.check(mapped, "ipv4")
    : isIP(address) === 4
      ? PRIVATE.check(address, "ipv4")
      : PRIVATE.check(address, "ipv6") || address.toLowerCase().startsWith("::ffff:");
}

function refused(): RasterError {
  return new RasterError(
    "forbidden",
    "The address is not a public HTTP address; only those and configured hosts are read.",
  );
}
