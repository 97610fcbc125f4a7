import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";

import { type AddressGuard, createAddressGuard } from "@swath/addresses";

import { problem } from "./errors.ts";

/** Reads a document at a public address. @throws {Problem} 400 saying what was wrong with it */
export type FetchSource = (href: string, accept?: string) => Promise<Buffer>;

const MAX_SOURCE_BYTES = 32 * 2 ** 20;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;

/**
 * Opens a reader of documents that clients name: nothing of the private network but what is allowed, whatever names resolve to.
 * @param allowPrivate host names, addresses and networks
 */
export function createSourceFetcher(allowPrivate: readonly string[]): FetchSource {
  const guard = createAddressGuard({
    allowPrivate,
    refuse: (where) => new Error(`${where} leads to a private address`),
  });
  return async (href, accept = "*/*") => {
    let url = parseUrl(href);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await send(url, { accept, signal, guard }).catch((error: unknown) => {
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

interface SendOptions {
  readonly accept: string;
  readonly signal: AbortSignal;
  readonly guard: AddressGuard;
}

async function send(
  url: URL,
  { accept, signal, guard }: SendOptions,
): Promise<{ readonly bytes: Buffer } | { readonly location: string }> {
  guard.checkHost(url.hostname, url.hostname);
  return new Promise((resolve, reject) => {
    const client = url.protocol === "https:" ? https : http;
    const request = client.get(
      url,
      {
        headers: { accept, "user-agent": "swath-resource-catalogue" },
        signal,
        lookup: guard.lookup as LookupFunction,
        agent: false,
      },
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
