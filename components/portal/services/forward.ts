import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

import { Problem } from "@swath/service";

import type { Service } from "./registry.ts";

/** What of a page's request goes on to a service; everything else stays, cookies first. */
const FORWARDED = [
  "accept",
  "accept-language",
  "content-type",
  "content-length",
  "prefer",
  "range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-range",
  "idempotency-key",
  "last-event-id",
  "slug",
];

/** What of a service's answer comes back. No cookies, and no policies for pages but the portal's own. */
const RETURNED = [
  "accept-ranges",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "link",
  "location",
  "preference-applied",
  "retry-after",
];

export interface ForwardOptions {
  readonly service: Service;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable | Buffer | string | null;
  readonly token: string;
  /** Address of the browser. */
  readonly clientAddress: string;
  readonly signal: AbortSignal;
}

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Readable;
}

/**
 * Sends a request to a service in the name of who is logged in.
 * @throws {Problem} 502 naming the service that does not answer
 */
export async function forward(options: ForwardOptions): Promise<ServiceResponse> {
  const { service, method, path, headers, body, token, clientAddress, signal } = options;
  const { upstream, host, url, title } = service;
  const { protocol, port } = new URL(url);
  try {
    const response = await upstream.dispatcher.request({
      origin: upstream.origin,
      path: `${upstream.prefix}${path}`,
      method: method as "GET",
      headers: {
        ...pick(headers, FORWARDED),
        host: port === "" ? host : `${host}:${port}`,
        authorization: `Bearer ${token}`,
        // What the ingress says of requests that come in by it; services build their links from these.
        "x-forwarded-proto": protocol.slice(0, -1),
        "x-forwarded-host": port === "" ? host : `${host}:${port}`,
        "x-forwarded-port": port === "" ? (protocol === "https:" ? "443" : "80") : port,
        "x-forwarded-for": clientAddress,
      },
      body,
      signal,
      headersTimeout: 11 * 60_000,
    });
    return { status: response.statusCode, headers: pick(response.headers, RETURNED), body: response.body };
  } catch (cause) {
    if (signal.aborted) {
      throw cause;
    }
    throw new Problem(502, `${title} does not answer.`, {
      title: "A service is down",
      cause,
      extensions: { service: service.id },
    });
  }
}

/** The refusal for the browser where a service refuses the session's token: the login was ended elsewhere. */
export const createLoginEnded = (): Problem =>
  new Problem(401, "Your login has ended, and nothing was done. Log in again, and try it again.", {
    title: "Not logged in",
  });

function pick(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string | string[]> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
