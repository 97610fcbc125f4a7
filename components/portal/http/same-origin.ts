import type { IncomingHttpHeaders } from "node:http";

import { Problem } from "@swath/service";

const SAFE = new Set(["GET", "HEAD"]);

/**
 * Refuses requests that change something unless the portal's own pages sent them. SameSite cookies are not enough: every other
 * host of the deployment is the same site, and some of them show what strangers uploaded.
 * @throws {Problem} 403
 */
export function requireSameOrigin(method: string, headers: IncomingHttpHeaders, origin: string): void {
  if (SAFE.has(method)) {
    return;
  }
  const site = headers["sec-fetch-site"];
  if (headers.origin !== origin || (site !== undefined && site !== "same-origin")) {
    throw new Problem(403, "Only the portal's own pages may send this request.");
  }
}

/** Whether a person goes to a page from one of the portal's own, or by its address. */
export function isOwnNavigation(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined || site === "same-origin" || site === "none";
}

/**
 * Refuses requests for data that another page of the site makes a browser send, by a script element say.
 * @throws {Problem} 403
 */
export function requireOwnFetch(headers: IncomingHttpHeaders): void {
  if (!isOwnNavigation(headers)) {
    throw new Problem(403, "Only the portal's own pages may read this.");
  }
}
