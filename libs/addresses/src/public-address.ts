import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

/** The only block that IANA allocates public IPv6 addresses from (RFC 4291 §2.4); ipaddr.js calls the rest unicast, too. */
const GLOBAL_UNICAST_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Whether an address is global unicast and in none of IANA's special-purpose registries (RFC 6890). Text that is no address is not public.
 * IPv4-mapped addresses are judged as the IPv4 address inside.
 */
export function isPublicAddress(text: string): boolean {
  return isIP(text) !== 0 && isPublic(ipaddr.process(text));
}

/** @param address not IPv4-mapped */
export function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === "unicast" && (address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST_IPV6));
}
