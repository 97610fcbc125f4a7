import { isOwnOrigin } from "@swath/auth";
import type { IncomingHttpHeaders } from "node:http";

import type { AnswerHeaders } from "./respond.ts";

/**
 * Whether a login in cookies may be used for this request. Cookies come along with requests that a page of another site
 * makes; a login must not be usable for those, apart from following a link.
 */
export function mayUseCookies(method: string, headers: IncomingHttpHeaders, domain: string): boolean {
  const isSafe = method === "GET" || method === "HEAD";
  const isUpgrade = headers.upgrade !== undefined;
  if (isSafe && !isUpgrade) {
    return true;
  }
  return headers["sec-fetch-site"] !== "cross-site" && isOwnOrigin(headers.origin, domain);
}

/** CORS headers of the gatekeeper's own answers, so that scripts can see why they were refused. */
export function corsHeaders({ origin }: IncomingHttpHeaders, domain: string): AnswerHeaders {
  if (origin === undefined) {
    return {};
  }
  return {
    "access-control-allow-origin": origin,
    // With the login in cookies only for pages of the deployment.
    ...(isOwnOrigin(origin, domain) && { "access-control-allow-credentials": "true" }),
    vary: "Origin",
  };
}

/** Headers of the answer to a preflight request, which is the same for every path: it says nothing of what is there. */
export function preflightHeaders(headers: IncomingHttpHeaders, domain: string): AnswerHeaders {
  const asked = headers["access-control-request-headers"];
  const names = asked !== undefined && /^[A-Za-z0-9\-_, ]{1,1000}$/.test(asked) ? asked.split(",") : [];
  const allowed = ["Authorization", "Origin", "Content-Type", ...names.map((name) => name.trim())];
  return {
    ...corsHeaders(headers, domain),
    // Browsers take the asterisk literally when cookies are involved.
    "access-control-allow-methods": "*, GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    "access-control-allow-headers": [...new Set(allowed)].filter((name) => name !== "").join(", "),
    "access-control-max-age": "600",
  };
}
