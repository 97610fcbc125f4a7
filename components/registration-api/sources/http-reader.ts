import type { Readable } from "node:stream";

import { parsePeerUrl } from "@swath/service";
import { createAddressGuard } from "@swath/addresses";
import { Agent, type Dispatcher, request } from "undici";

import { RegistrationError } from "../queue/errors.ts";
import { collectBody } from "./collect-body.ts";
import { decodeBody } from "./decode-body.ts";
import { readValidators, toConditions } from "./validators.ts";
import type { PeerSettings, ReadOptions, SourceDocument } from "./source-types.ts";

export interface HttpReader {
  readonly read: (href: string, options: ReadOptions) => Promise<SourceDocument>;
  readonly close: () => Promise<void>;
}

interface HttpReaderOptions {
  /** Hosts, addresses and networks that are read although they are private. */
  readonly allowPrivate: readonly string[];
  readonly peers: readonly PeerSettings[];
}

const MAX_REDIRECTS = 5;
const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 30_000;
/** For one document, however slowly it comes. */
const TOTAL_TIMEOUT_MS = 120_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);
const NEEDS_LOGIN =
  ": it needs a login; name an address that is open, or a harvester with the headers that it asks for.";
/** What to do about what an address answers. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: NEEDS_LOGIN,
  403: NEEDS_LOGIN,
  404: ": there is nothing at this address; correct it.",
  410: ": what was at this address is gone; correct it.",
};
const MAX_RETRY_AFTER_SECONDS = 3600;

/** Reads `http:` and `https:` addresses: public ones, those of the deployment through their peers, and nothing else. */
export function createHttpReader({ allowPrivate, peers }: HttpReaderOptions): HttpReader {
  const guard = createAddressGuard({
    allowPrivate,
    refuse: (where, address) =>
      new RegistrationError(
        `${where} leads to ${address}, which is a private address; use a public one, or ask the operator to allow it (REGISTRATION_ALLOW_PRIVATE).`,
      ),
  });
  const timeouts = { headersTimeout: SILENCE_TIMEOUT_MS, bodyTimeout: SILENCE_TIMEOUT_MS };
  const outside = new Agent({
    ...timeouts,
    connections: 8,
    connect: { lookup: guard.lookup as never, timeout: CONNECT_TIMEOUT_MS },
  });
  const inside = peers.map(({ publicUrl, peerUrl }) => {
    const { origin, prefix, socketPath } = parsePeerUrl(peerUrl);
    const agent = new Agent({ ...timeouts, ...(socketPath !== undefined && { connect: { socketPath } }) });
    return { host: new URL(publicUrl).host, target: `${origin}${prefix}`, agent };
  });

  const route = (url: URL): { target: string; dispatcher: Dispatcher; headers: Record<string, string> } => {
    const peer = inside.find(({ host }) => host === url.host);
    if (peer === undefined) {
      guard.checkHost(url.hostname, url.origin);
      return { target: url.href, dispatcher: outside, headers: {} };
    }
    return {
      target: `${peer.target}${url.pathname}${url.search}`,
      dispatcher: peer.agent,
      headers: { host: url.host, "x-forwarded-host": url.host, "x-forwarded-proto": url.protocol.slice(0, -1) },
    };
  };

  return {
    read: async (href, { signal, accept = "*/*", headers = {}, body, maxBytes, ifChangedFrom, isHead = false }) => {
      let url = parseHref(href);
      const deadline = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
      const both = AbortSignal.any([signal, deadline]);
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
        const { target, dispatcher, headers: own } = route(url);
        try {
          const response = await request(target, {
            dispatcher,
            signal: both,
            method: isHead ? "HEAD" : body === undefined ? "GET" : "POST",
            headers: {
              "user-agent": "swath-registration",
              accept,
              // Keys are for the host that they were given for.
              ...(url.origin === parseHref(href).origin && headers),
              ...toConditions(ifChangedFrom),
              ...(body !== undefined && { "content-type": "application/json" }),
              ...own,
            },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          });
          const location = response.headers["location"];
          if (REDIRECTS.has(response.statusCode) && typeof location === "string") {
            destroy(response.body);
            url = parseHref(new URL(location, url).href);
            continue;
          }
          if (response.statusCode === 304 && ifChangedFrom !== undefined) {
            destroy(response.body);
            return { href: url.href, bytes: Buffer.alloc(0), contentType: "", isUnchanged: true };
          }
          if (response.statusCode !== 200) {
            destroy(response.body);
            throw toRefusal(href, response.statusCode, response.headers["retry-after"]);
          }
          return {
            href: url.href,
            bytes: await collectBody(
              decodeBody(response.body, response.headers["content-encoding"], href),
              href,
              maxBytes,
            ),
            contentType: String(response.headers["content-type"] ?? ""),
            ...readValidators(response.headers),
          };
        } catch (error) {
          throw signal.aborted ? error : toFailure(href, error, deadline.aborted);
        }
      }
      throw new RegistrationError(`${shorten(href)} redirects more than ${MAX_REDIRECTS} times.`);
    },
    close: async () => {
      await Promise.all([outside, ...inside.map(({ agent }) => agent)].map((agent) => agent.destroy()));
    },
  };
}

function destroy(body: Readable): void {
  body.on("error", () => {});
  body.destroy();
}

function parseHref(href: string): URL {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new RegistrationError(`${shorten(href)} is not a complete http, https or s3 address.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new RegistrationError(`The address at ${url.host} must have no password in it.`);
  }
  return url;
}

function toRefusal(href: string, status: number, retryAfter: string | string[] | undefined): RegistrationError {
  const seconds = typeof retryAfter === "string" ? toSeconds(retryAfter) : undefined;
  return new RegistrationError(`${shorten(href)} answered with status ${status}${REMEDIES[status] ?? "."}`, {
    isTransient: TRANSIENT.has(status),
    isRefusal: !TRANSIENT.has(status),
    isGone: status === 404 || status === 410,
    ...(seconds !== undefined && { retryAfter: Math.min(seconds, MAX_RETRY_AFTER_SECONDS) }),
  });
}

/** Seconds of `Retry-After`, a number or a date (RFC 9110 §10.2.3). */
function toSeconds(text: string): number | undefined {
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function toFailure(href: string, error: unknown, isTooSlow: boolean): Error {
  const cause = error instanceof Error && error.cause instanceof RegistrationError ? error.cause : error;
  if (cause instanceof RegistrationError) {
    return cause;
  }
  const { code = "", message = "" } = cause as { readonly code?: string; readonly message?: string };
  const why = isTooSlow
    ? `takes longer than ${TOTAL_TIMEOUT_MS / 1000} s`
    : code === "ENOTFOUND"
      ? "cannot be reached: its host name is not known"
      : /CERT|SELF_SIGNED|ISSUER/.test(code)
        ? `cannot be read: its certificate is not trusted (${code})`
        : `cannot be read: ${code} ${message}`.trimEnd();
  return new RegistrationError(`${shorten(href)} ${why}.`, { isTransient: true, cause: error });
}

/** Without the query, which may carry keys. */
const shorten = (href: string): string => href.replace(/[?#].*$/s, "").slice(0, 300);
