import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { isIP } from "node:net";

import { isHostName } from "@swath/manifest";
import ipaddr from "ipaddr.js";

import { StagingError } from "../errors.ts";

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Which addresses may be connected to. */
export interface AddressGuard {
  /** @throws {StagingError} for a host that is an address which is not allowed; names are checked when they are resolved */
  readonly checkHost: (hostname: string, where: string) => void;
  /** Resolver for sockets: the connection goes to an address that was checked, and is not resolved again. */
  readonly lookup: (hostname: string, options: LookupOptions, callback: LookupCallback) => void;
}

/**
 * @param allowPrivate CIDR ranges, addresses and host names beside all global addresses
 * @throws {Error} for an entry that is none of these
 */
export function createAddressGuard(allowPrivate: readonly string[]): AddressGuard {
  const hosts = new Set<string>();
  const ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const entry of allowPrivate) {
    if (ipaddr.isValidCIDR(entry) && isIP(entry.split("/", 1)[0] ?? "") !== 0) {
      ranges.push(ipaddr.parseCIDR(entry));
    } else if (isIP(entry) !== 0) {
      const address = ipaddr.parse(entry);
      ranges.push([address, address.kind() === "ipv4" ? 32 : 128]);
    } else if (isHostName(entry)) {
      hosts.add(entry.toLowerCase());
    } else {
      throw new Error(`ALLOW_PRIVATE has "${entry}"; allowed: host names, addresses, and networks such as 10.1.0.0/16`);
    }
  }
  const isAllowed = (text: string): boolean => {
    const parsed = ipaddr.parse(text);
    const address =
      parsed.kind() === "ipv6" && (parsed as ipaddr.IPv6).isIPv4MappedAddress()
        ? (parsed as ipaddr.IPv6).toIPv4Address()
        : parsed;
    return (
      address.range() === "unicast" ||
      ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits))
    );
  };
  const refuse = (where: string, address: string) =>
    new StagingError(
      "access",
      where,
      `leads to ${address}, which is a private address; use an address that is public, or ask the operator to allow it (PROCESSING_ALLOW_PRIVATE)`,
    );
  return {
    checkHost: (hostname, where) => {
      const host = hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) !== 0 && !isAllowed(host)) {
        throw refuse(where, host);
      }
    },
    lookup: (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, addresses) => {
        if (error !== null) {
          callback(error, []);
          return;
        }
        const allowed = hosts.has(hostname.toLowerCase())
          ? addresses
          : addresses.filter(({ address }) => isAllowed(address));
        const [first] = allowed;
        if (first === undefined) {
          callback(refuse(hostname, addresses[0]?.address ?? "no address"), []);
        } else if (options.all === true) {
          callback(null, allowed);
        } else {
          callback(null, first.address, first.family);
        }
      });
    },
  };
}
