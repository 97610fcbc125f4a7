import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

import { isPublic } from "./public-address.ts";

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Which addresses may be connected to. */
export interface AddressGuard {
  /** @throws what `refuse` made, for a host that is an address which is not allowed; names are checked when they are resolved */
  readonly checkHost: (hostname: string, where: string) => void;
  /** Resolver for sockets: the connection goes to an address that was checked, and is not resolved again. */
  readonly lookup: (hostname: string, options: LookupOptions, callback: LookupCallback) => void;
}

interface AddressGuardOptions {
  /** CIDR ranges, addresses and host names beside all public addresses. */
  readonly allowPrivate: readonly string[];
  /** The error for an address that `where` leads to. */
  readonly refuse: (where: string, address: string) => Error;
}

/** Labels of letters, digits and hyphens, of which the last is no number (RFC 1123 §2.1). */
const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** @throws {Error} for an entry of `allowPrivate` that is none of these */
export function createAddressGuard({ allowPrivate, refuse }: AddressGuardOptions): AddressGuard {
  const hosts = new Set<string>();
  const ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const entry of allowPrivate) {
    if (ipaddr.isValidCIDR(entry) && isIP(entry.split("/", 1)[0] ?? "") !== 0) {
      ranges.push(ipaddr.parseCIDR(entry));
    } else if (isIP(entry) !== 0) {
      const address = ipaddr.parse(entry);
      ranges.push([address, address.kind() === "ipv4" ? 32 : 128]);
    } else if (HOST_NAME.test(entry)) {
      hosts.add(entry.toLowerCase());
    } else {
      throw new Error(`ALLOW_PRIVATE has "${entry}"; allowed: host names, addresses, and networks such as 10.1.0.0/16`);
    }
  }
  const isAllowed = (text: string): boolean => {
    const address = ipaddr.process(text);
    return (
      isPublic(address) || ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits))
    );
  };
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
