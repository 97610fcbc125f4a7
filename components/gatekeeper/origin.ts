import { isOwnOrigin } from "@swath/auth";
import type { IncomingHttpHeaders } from "node:http";

import type { ResponseHeaders } from "./respond.ts";

/** Whose pages may use a login. */
export interface OwnPages {
  readonly domain: string;
  /** Origins of the platform's own pages; every host below the domain when left out. */
  readonly origins?: ReadonlySet<string>;
}

/** Whether a page that sent a request is one of the platform. Content of users has other origins, below the domain though they are. */
export function isOwnPage(origin: string | undefined, { domain, origins }: OwnPages): boolean {
  return origins === undefined || origin === undefined
    ? isOwnOrigin(origin, domain)
    : origins.has(origin.toLowerCase());
}

/**
 * Whether a login in cookies may be used for this request. Cookies come along with requests that a page of another site
 * makes; a login must not be usable for those, apart from following a link.
 */
export function mayUseCookies(method: string, headers: IncomingHttpHeaders, pages: OwnPages): boolean {
  const isRead = (method === "GET" || method === "HEAD") && headers.upgrade === undefined;
  const isDocument = ["document", undefined].includes(headers["sec-fetch-dest"] as string | undefined);
  // A link that a person follows; a frame or an image is what a page asks for by itself.
  if (isRead && headers["sec-fetch-mode"] === "navigate" && isDocument) {
    return true;
  }
  // A sandboxed page has an origin of its own: what it asks for is cross-site whatever its address.
  return headers["sec-fetch-site"] !== "cross-site" && isOwnPage(headers.origin, pages);
}

/** CORS headers of the gatekeeper's own answers, so that scripts can see why they were refused. */
export function corsHeaders({ origin }: IncomingHttpHeaders, pages: OwnPages): ResponseHeaders {
  if (origin === undefined) {
    return {};
  }
  return {
    "access-control-allow-origin": origin,
    // With the login in cookies only for pages of the deployment.
    ...(isOwnPage(origin, pages) && { "access-control-allow-credentials": "true" }),
    vary: "Origin",
  };
}

/** Headers of the answer to a preflight request, which is the same for every path: it says nothing of what is there. */
export function preflightHeaders(headers: IncomingHttpHeaders, pages: OwnPages): ResponseHeaders {
  const requested = headers["access-control-request-headers"];
  const names = requested !== undefined && /^[A-Za-z0-9\-_, ]{1,1000}$/.test(requested) ? requested.split(",") : [];
  const allowed = ["Authorization", "Origin", "Content-Type", ...names.map((name) => name.trim())];
  return {
    ...corsHeaders(headers, pages),
    // Browsers take the asterisk literally when cookies are involved.
    "access-control-allow-methods": "*, GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    "access-control-allow-headers": [...new Set(allowed)].filter((name) => name !== "").join(", "),
    "access-control-max-age": "600",
  };
}
