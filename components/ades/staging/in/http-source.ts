import type { Readable } from "node:stream";
import { rootCertificates } from "node:tls";

import { parsePeerUrl } from "@swath/service";
import { Agent, type Dispatcher, request } from "undici";

import { displayUrl } from "../display-url.ts";
import { StagingError } from "../errors.ts";
import type { InternalService, SourceAccess, StageInLimits } from "../types.ts";
import { createAddressGuard } from "./addresses.ts";
import { readChecksum } from "./checksums.ts";
import { type OpenRequest, type OpenedSource, discard } from "./opened-source.ts";
import { optional, parseContentRange } from "./response-headers.ts";

/** Opens `http:` and `https:` addresses: public ones directly, the platform's own through their peers. */
export interface HttpSource {
  /** @param asCaller whether internal services are asked as the caller */
  readonly open: (request: OpenRequest, asCaller: boolean) => Promise<OpenedSource>;
  /** @throws {StagingError} for an address inside of a network that is not one of the platform's services; names are not looked up */
  readonly checkAccess: (href: string) => void;
  readonly isInternal: (href: string) => boolean;
  readonly isCatalogue: (href: string) => boolean;
  readonly close: () => Promise<void>;
}

interface Destination {
  readonly url: string;
  readonly dispatcher: Dispatcher;
  readonly headers: Readonly<Record<string, string>>;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const TEMPORARY = new Set([408, 425, 429, 500, 502, 503, 504]);

export function createHttpSource(access: SourceAccess, limits: StageInLimits): HttpSource {
  const guard = createAddressGuard(access.allowPrivate);
  const timeouts = { headersTimeout: limits.stallSeconds * 1000, bodyTimeout: limits.stallSeconds * 1000 };
  const outside = new Agent({
    ...timeouts,
    connections: limits.parallel,
    connect: {
      lookup: guard.lookup as never,
      timeout: Math.min(limits.stallSeconds, 20) * 1000,
      ...(access.certificateAuthority !== undefined && { ca: [...rootCertificates, access.certificateAuthority] }),
    },
  });
  const inside = new Map<string | undefined, Agent>();
  const agentFor = (socketPath: string | undefined): Agent => {
    const agent =
      inside.get(socketPath) ??
      new Agent({ ...timeouts, ...(socketPath !== undefined && { connect: { socketPath } }) });
    inside.set(socketPath, agent);
    return agent;
  };

  const find = (href: string) => access.internal.find((service) => isOf(service, new URL(href)));
  const checkAccess = (href: string): void => {
    if (find(href) === undefined) {
      guard.checkHost(new URL(href).hostname, displayUrl(href));
    }
  };
  const route = (href: string, asCaller: boolean): Destination => {
    const url = new URL(href);
    const service = find(href);
    if (service === undefined) {
      checkAccess(href);
      return { url: href, dispatcher: outside, headers: {} };
    }
    const { peerUrl, headers } = (asCaller ? service.asCaller : undefined) ?? { ...service, headers: {} };
    const { origin, prefix, socketPath } = parsePeerUrl(peerUrl);
    return {
      url: `${origin}${prefix}${url.pathname}${url.search}`,
      dispatcher: agentFor(socketPath),
      headers: {
        ...headers,
        host: url.host,
        "x-forwarded-host": url.host,
        "x-forwarded-proto": url.protocol.slice(0, -1),
      },
    };
  };

  return {
    checkAccess,
    isInternal: (href) => URL.canParse(href) && find(href) !== undefined,
    isCatalogue: (href) => URL.canParse(href) && find(href)?.isCatalogue === true,
    open: async (request, asCaller) => {
      const seen = new Set<string>();
      let { href } = request;
      let [requested, isOwn] = [request, asCaller];
      for (;;) {
        const response = await send(route(href, isOwn), href, requested);
        if (response.statusCode === 416 && requested.start !== undefined) {
          // All of it is here, or it is shorter by now: from its beginning.
          discard(response.body as unknown as Readable);
          const { start: _start, validator: _validator, ...whole } = requested;
          requested = whole;
          continue;
        }
        if (!REDIRECTS.has(response.statusCode)) {
          return toOpened(response, href, requested);
        }
        discard(response.body as unknown as Readable);
        seen.add(href);
        isOwn &&= find(href) !== undefined;
        href = toTarget(response, href);
        if (seen.has(href) || seen.size > limits.maxRedirects) {
          const problem = seen.has(href) ? "redirects in a circle" : `redirects more than ${limits.maxRedirects} times`;
          throw new StagingError("source", displayUrl(requested.href), problem);
        }
      }
    },
    close: async () => {
      await Promise.all([outside, ...inside.values()].map((agent) => agent.destroy()));
    },
  };
}

async function send(destination: Destination, href: string, { start = 0, validator, accept, signal }: OpenRequest) {
  try {
    return await request(destination.url, {
      dispatcher: destination.dispatcher,
      signal,
      headers: {
        "user-agent": "swath",
        accept: accept ?? "*/*",
        "accept-encoding": "identity",
        ...(start > 0 && validator !== undefined && { range: `bytes=${start}-`, "if-range": validator }),
        ...destination.headers,
      },
    });
  } catch (error) {
    throw signal.aborted ? (signal.reason as Error) : toUnreachable(error, href);
  }
}

/** Also for errors in the middle of a body. */
export function toUnreachable(error: unknown, href: string): StagingError {
  const cause = error instanceof Error && error.cause instanceof StagingError ? error.cause : error;
  if (cause instanceof StagingError) {
    return cause;
  }
  const { code = "" } = cause as { readonly code?: string };
  const message = cause instanceof Error ? cause.message : "";
  const problem =
    code === "ENOTFOUND"
      ? "its host name is not known"
      : code.startsWith("UND_ERR_") && code.endsWith("TIMEOUT")
        ? "its source does not answer"
        : isUntrusted(code)
          ? `the certificate of its source is not trusted (${code})`
          : `its source broke off: ${code} ${message}`.trimEnd();
  return new StagingError("source", displayUrl(href), problem, {
    temporary: code !== "ENOTFOUND" && !isUntrusted(code),
    cause: error,
  });
}

const isUntrusted = (code: string): boolean => /CERT|SELF_SIGNED|ISSUER|ERR_TLS/.test(code);

function toOpened(response: Dispatcher.ResponseData, href: string, { start = 0 }: OpenRequest): OpenedSource {
  const { statusCode, body } = response;
  const header = (name: string): string | undefined => {
    const value = response.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  if (statusCode !== 200 && statusCode !== 206) {
    discard(body as unknown as Readable);
    throw toRefusal(statusCode, href);
  }
  const range = statusCode === 206 ? parseContentRange(header("content-range")) : undefined;
  if (statusCode === 206 && range?.start !== start) {
    discard(body as unknown as Readable);
    throw new StagingError("source", displayUrl(href), `was asked for its bytes from ${start} on and gave others`);
  }
  const length = header("content-length");
  const total = range === undefined ? (length === undefined ? undefined : Number(length)) : range.total;
  const etag = header("etag");
  const validator = etag !== undefined && !etag.startsWith("W/") ? etag : header("last-modified");
  const checksum = readChecksum(header);
  const encoding = header("content-encoding")?.toLowerCase();
  return {
    href,
    start: range?.start ?? 0,
    ...(total !== undefined && { total }),
    ...(validator !== undefined && { validator }),
    ...(checksum !== undefined && { checksum }),
    ...(encoding !== undefined && encoding !== "identity" && { encoding }),
    ...optional("mediaType", header("content-type")),
    ...optional("lastModified", header("last-modified")),
    ...optional("fileName", /filename="?([^";]+)"?/i.exec(header("content-disposition") ?? "")?.[1]),
    body: body as unknown as Readable,
  };
}

function toRefusal(status: number, href: string): StagingError {
  const hints: Readonly<Record<number, string>> = {
    401: "it wants a login; give an address that is public or signed",
    403: "access is refused; a signed address may have expired",
    404: "there is nothing at this address",
    410: "it is gone",
    429: "it wants fewer requests",
  };
  const hint = hints[status] ?? (status >= 500 ? "its source has a fault of its own" : "it does not give this file");
  return new StagingError("source", displayUrl(href), `answers ${status}: ${hint}`, {
    temporary: TEMPORARY.has(status),
  });
}

function toTarget(response: Dispatcher.ResponseData, href: string): string {
  const location = response.headers["location"];
  const target = Array.isArray(location) ? location[0] : location;
  if (target === undefined || !URL.canParse(target, href)) {
    throw new StagingError("source", displayUrl(href), `answers ${response.statusCode} without saying where to go`);
  }
  const url = new URL(target, href);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new StagingError(
      "access",
      displayUrl(href),
      `redirects to a ${url.protocol} address; only http and https are followed`,
    );
  }
  return url.href;
}

const WORKSPACE = /^[a-z0-9-]+$/;

/** Whether an address is one of a service's, on its own host or on that of a workspace. */
function isOf({ publicUrl, workspacesOf: domain }: InternalService, url: URL): boolean {
  const base = new URL(publicUrl);
  const service = `${base.hostname.split(".", 1)[0] ?? ""}.`;
  const { hostname } = url;
  if (domain !== undefined && hostname.startsWith(service) && hostname.endsWith(`.${domain}`)) {
    const workspace = hostname.slice(service.length, -domain.length - 1);
    if (WORKSPACE.test(workspace)) {
      base.hostname = hostname;
    }
  }
  return isBelow(url, base);
}

function isBelow(url: URL, base: URL): boolean {
  const path = base.pathname.replace(/\/$/, "");
  return url.origin === base.origin && (url.pathname === path || url.pathname.startsWith(`${path}/`));
}
