import { BlockList, isIP } from "node:net";

/** Where a request comes from, as far as it can be trusted. */
export interface Origin {
  readonly address: string;
  readonly tls: boolean;
}

/** Reverse proxies in front, whose word is taken for whom they act for. */
export interface TrustedProxies {
  /** `peer` is who opened the connection; the fields are those of the request, several of one name joined by commas. */
  readonly originOf: (
    peer: Origin,
    fields: { readonly forwardedFor: string; readonly forwardedProto: string },
  ) => Origin;
}

/** Addresses in one field that are looked at: a chain of proxies is short. */
const MAX_HOPS = 20;

/** Whether a text is an address or a network: `192.0.2.7`, `10.0.0.0/8`, `fd00::/8`. */
export function isProxyAddress(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  return (
    family !== 0 &&
    rest.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32)))
  );
}

/**
 * Reads `X-Forwarded-For` from its end: what a trusted proxy added is true, and what comes before it is what that one was told. The
 * first address that is no trusted proxy's is the client's.
 */
export function createTrustedProxies(addresses: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const text of addresses) {
    const [address = "", bits] = text.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(address, bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits), family);
  }
  const isTrusted = (address: string): boolean => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? "ipv6" : "ipv4");
  };
  return {
    originOf: (peer, { forwardedFor, forwardedProto }) => {
      if (addresses.length === 0 || !isTrusted(peer.address)) {
        return peer;
      }
      let { address } = peer;
      for (const part of forwardedFor.split(",").slice(-MAX_HOPS).toReversed()) {
        const next = part
          .trim()
          .replace(/^\[([^\]]+)\](?::\d+)?$/, "$1")
          .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
        if (isIP(next) === 0) {
          break;
        }
        address = next.replace(/^::ffff:(?=\d)/i, "");
        if (!isTrusted(address)) {
          break;
        }
      }
      const proto = forwardedProto.split(",").at(-1)?.trim().toLowerCase();
      return { address, tls: proto === "https" || (peer.tls && proto !== "http") };
    },
  };
}
