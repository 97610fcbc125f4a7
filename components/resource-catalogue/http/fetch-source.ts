import { type LookupAddress, lookup } from "node:dns";
import http from "node:http";
import https from "node:https";
import { BlockList, type LookupFunction, isIP } from "node:net";

import { problem } from "./errors.ts";

/** Reads a document at a public address. @throws {Problem} 400 saying what was wrong with it */
export type FetchSource = (href: string, accept?: string) => Promise<Buffer>;

const MAX_SOURCE_BYTES = 32 * 2 ** 20;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;

/** What is not of the public network (RFC 6890). */
const PRIVATE_NETWORKS = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/127",
  "64:ff9b::/96",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "fc00::/7",
  "fe80::/10",
  "ff00::/8",
];

/**
 * Opens a reader of documents that clients name: nothing of the private network but what is allowed, whatever names resolve to.
 * @param allowPrivate host names, addresses and networks
 */
export function createSourceFetcher(allowPrivate: readonly string[]): FetchSource {
  const denied = toBlockList(PRIVATE_NETWORKS);
  const allowed = toBlockList(allowPrivate.filter((entry) => isIP(entry.split("/")[0] ?? "") !== 0));
  const hosts = new Set(allowPrivate.map((entry) => entry.toLowerCase()));
  const isAllowed = (address: string): boolean => {
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
    const family = isIP(mapped) === 6 ? "ipv6" : "ipv4";
    return allowed.check(mapped, family) || (!denied.check(mapped, family) && !/^::ffff:/i.test(mapped));
  };
  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const usable =
        error === null
          ? addresses.filter(({ address }) => hosts.has(hostname.toLowerCase()) || isAllowed(address))
          : [];
      const [first] = usable;
      if (error !== null || first === undefined) {
        callback(error ?? new Error(`${hostname} leads to a private address`), "", 4);
      } else if (options.all === true) {
        callback(null, usable);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
  return async (href, accept = "*/*") => {
    let url = parseUrl(href);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const host = url.hostname.replaceAll(/^\[|\]$/g, "");
      if (isIP(host) !== 0 && !isAllowed(host)) {
        throw refusal(href, `leads to ${host}, which is a private address`);
      }
      const response = await send(url, { accept, signal, lookup: guardedLookup }).catch((error: unknown) => {
        throw refusal(href, `cannot be read: ${signal.aborted ? "it takes too long" : (error as Error).message}`);
      });
      if ("bytes" in response) {
        return response.bytes;
      }
      url = parseUrl(new URL(response.location, url).href);
    }
    throw refusal(href, `redirects more than ${MAX_REDIRECTS} times`);
  };
}

const refusal = (href: string, why: string): Error =>
  problem(400, "InvalidParameterValue", `The source ${href.slice(0, 200)} ${why}.`);

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(address, bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits), family);
  }
  return list;
}

function parseUrl(href: string): URL {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (
    url === undefined ||
    (url.protocol !== "http:" && url.protocol !== "https:") ||
    url.username !== "" ||
    url.password !== ""
  ) {
    throw refusal(href, "must be an address of http or https, without a password");
  }
  return url;
}

function send(
  url: URL,
  {
    accept,
    signal,
    lookup: guarded,
  }: { readonly accept: string; readonly signal: AbortSignal; readonly lookup: LookupFunction },
): Promise<{ readonly bytes: Buffer } | { readonly location: string }> {
  return new Promise((resolve, reject) => {
    const client = url.protocol === "https:" ? https : http;
    const request = client.get(
      url,
      { headers: { accept, "user-agent": "swath-resource-catalogue" }, signal, lookup: guarded, agent: false },
      (response) => {
        const { statusCode = 0, headers } = response;
        if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
          response.destroy();
          resolve({ location: headers.location });
          return;
        }
        if (statusCode !== 200) {
          response.destroy();
          reject(new Error(`it responded ${statusCode}`));
          return;
        }
        const chunks: Buffer[] = [];
        let length = 0;
        response.on("data", (chunk: Buffer) => {
          length += chunk.length;
          chunks.push(chunk);
          if (length > MAX_SOURCE_BYTES) {
            response.destroy(new Error(`it has more than ${MAX_SOURCE_BYTES} bytes`));
          }
        });
        response.once("end", () => resolve({ bytes: Buffer.concat(chunks) }));
        response.once("error", reject);
      },
    );
    request.once("error", reject);
  });
}
