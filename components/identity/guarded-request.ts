import { lookup } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

import type { AddressGuard } from "@swath/addresses";

interface GuardedRequest {
  /** Which addresses may be connected to; left out for hosts of the deployment alone. */
  readonly guard: AddressGuard | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** A request with a body is a POST, one without a GET. */
  readonly body?: string | undefined;
  readonly timeoutMs: number;
}

interface GuardedResponse {
  readonly status: number;
  readonly text: string;
}

const MAX_BODY_BYTES = 65_536;

/**
 * One request to an address that somebody else gave, on a connection of its own. Redirects are not followed: they would lead to
 * addresses that were not checked.
 * @throws {Error} for an address that must not be connected to, no response in time, and one that is too long
 */
export async function requestGuarded(
  url: URL,
  { guard, headers, body, timeoutMs }: GuardedRequest,
): Promise<GuardedResponse> {
  if (!/^https?:$/.test(url.protocol)) {
    throw new Error(`${url.href} is neither an https nor an http address`);
  }
  guard?.checkHost(url.hostname, url.href);
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(
      url,
      {
        method: body === undefined ? "GET" : "POST",
        agent: false,
        lookup: (guard?.lookup ?? lookupOwn) as never,
        signal: AbortSignal.timeout(timeoutMs),
        headers: { ...headers, ...(body !== undefined && { "content-length": Buffer.byteLength(body) }) },
      },
      (response) => void readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject),
    );
    request.on("error", reject);
    request.end(body);
  });
}

/** Resolves hosts of the deployment. Those below `localhost` are this machine (RFC 6761 §6.3); many resolvers do not know it. */
const lookupOwn: typeof lookup = ((hostname: string, ...rest: readonly [never, never]) => {
  lookup(hostname.endsWith(".localhost") ? "localhost" : hostname, ...rest);
}) as typeof lookup;

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
