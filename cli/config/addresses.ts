import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const unroutable = new BlockList();
unroutable.addSubnet("0.0.0.0", 8, "ipv4");
unroutable.addSubnet("10.0.0.0", 8, "ipv4");
unroutable.addSubnet("100.64.0.0", 10, "ipv4");
unroutable.addSubnet("127.0.0.0", 8, "ipv4");
unroutable.addSubnet("169.254.0.0", 16, "ipv4");
unroutable.addSubnet("172.16.0.0", 12, "ipv4");
unroutable.addSubnet("192.168.0.0", 16, "ipv4");
unroutable.addSubnet("::", 127, "ipv6");
unroutable.addSubnet("fc00::", 7, "ipv6");
unroutable.addSubnet("fe80::", 10, "ipv6");

export function isLoopbackAddress(address: string): boolean {
  return isIn(loopback, address);
}

/**
 * True for addresses that no public certificate authority reaches: private, link-local, loopback, unspecified. Addresses of documentation are
 * false: examples deploy with them. `@swath/addresses` decides what services may connect to.
 */
export function isPrivateAddress(address: string): boolean {
  return isIn(unroutable, address);
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? "ipv6" : "ipv4");
}

/** Top-level names that no public certificate authority signs for. */
const localSuffixes = ["localhost", "local", "internal", "test", "example", "invalid", "lan", "home.arpa"];

export function isLocalDomain(domain: string): boolean {
  return localSuffixes.some((suffix) => domain === suffix || domain.endsWith(`.${suffix}`));
}

/** `127.0.0.1` as the first labels of a name: with dashes in variant A, with its dots in variant B; IPv6 always in full with dashes. */
export function addressLabels(address: string, variant: "A" | "B"): string {
  if (isIP(address) === 6) {
    return expandIpv6(address).join("-");
  }
  return variant === "A" ? address.replaceAll(".", "-") : address;
}

function expandIpv6(address: string): string[] {
  // The URL parser brings every spelling into one: lower case, no embedded IPv4, one `::`.
  const canonical = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  return [...first, ...Array<string>(tail === undefined ? 0 : 8 - first.length - last.length).fill("0"), ...last];
}

/** True for a DNS name in lower case that leaves room for a service's name in front of it. */
export function isDomainName(text: string): boolean {
  return (
    text.length <= 200 &&
    text.split(".").every((label) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(label)) &&
    !/(^|\.)\d+$/.test(text)
  );
}
