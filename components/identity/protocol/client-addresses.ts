import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

import { createAddressGuard } from "@swath/service/address-guard";

/** Requests to addresses that clients gave: strangers may have registered them. */
export interface ClientAddresses {
  /** @throws {Error} for an address that must not be asked, and for one that does not answer in time */
  readonly ask: (url: string, request?: ClientRequest) => Promise<ClientAnswer>;
}

interface ClientRequest {
  /** Fields of a form, which make it a POST. */
  readonly form?: Readonly<Record<string, string>>;
}

interface ClientAnswer {
  readonly status: number;
  readonly text: string;
}

interface ClientAddressesOptions {
  /** Hosts and networks that are not public and may be asked all the same. */
  readonly allowPrivate: readonly string[];
  readonly publicUrl: string;
  /** Domain of the deployment: its hosts may be asked wherever they are, by way of its ingress. */
  readonly domain: string;
}

const TIMEOUT_MS = 5000;
const MAX_BODY_BYTES = 65_536;

/** Redirects are not followed: they would lead to addresses that nobody registered. */
export function createClientAddresses({ allowPrivate, publicUrl, domain }: ClientAddressesOptions): ClientAddresses {
  const own = new URL(publicUrl);
  const guard = createAddressGuard({
    allowPrivate,
    refuse: (where, address) =>
      new Error(`${where} leads to ${address}, which is not public; CLIENT_ALLOW_PRIVATE can allow it`),
  });
  const isOwn = ({ protocol, hostname, port }: URL) =>
    protocol === own.protocol && port === own.port && hostname.endsWith(`.${domain.toLowerCase()}`);
  return {
    ask: async (url, { form } = {}) => {
      const target = new URL(url);
      if (!/^https?:$/.test(target.protocol)) {
        throw new Error(`${url} is neither an https nor an http address`);
      }
      const isGuarded = !isOwn(target);
      if (isGuarded) {
        guard.checkHost(target.hostname, url);
      }
      const body = form && new URLSearchParams(form).toString();
      return send(target, {
        method: body === undefined ? "GET" : "POST",
        agent: false,
        ...(isGuarded && { lookup: guard.lookup as never }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          accept: "application/json",
          ...(body !== undefined && {
            "content-type": "application/x-www-form-urlencoded",
            "content-length": Buffer.byteLength(body),
          }),
        },
        body,
      });
    },
  };
}

function send(
  target: URL,
  { body, ...options }: RequestOptions & { readonly body: string | undefined },
): Promise<ClientAnswer> {
  return new Promise((resolve, reject) => {
    const request = (target.protocol === "https:" ? requestHttps : requestHttp)(target, options, (response) => {
      readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      response.destroy();
      throw new Error(`the answer is longer than ${MAX_BODY_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
