import type { VerifiedToken } from "@swath/auth";
import { audiencesOf } from "@swath/auth";

import type { CanonicalHost } from "../canonical/canonical-host.ts";

/** What a client can say in headers that services would take for ours, in any spelling that maps to the same variable name. */
const FORGEABLE = /^x-(?:auth|uma|forwarded|original|rewrite)-|^forwarded$|^proxy-?$/;

/** Set by the ingress in front, with every value that came from outside overwritten. */
const FROM_INGRESS = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port"]);

/** Meant for one connection only (RFC 9110 §7.6.1). */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  // Answered here once the request is allowed.
  "expect",
]);

interface ForwardOptions {
  readonly rawHeaders: readonly string[];
  readonly host: CanonicalHost;
  /** What is left of the Cookie header. */
  readonly cookie: string | undefined;
  readonly verified: VerifiedToken | undefined;
  readonly now: number;
}

/**
 * The headers of a request as the service behind gets them, as a flat list of names and values: the client's own without
 * those of its connection and without any that could be taken for the gatekeeper's, then the verified identity.
 */
export function forwardedHeaders({ rawHeaders, host, cookie, verified, now }: ForwardOptions): string[] {
  const dropped = connectionNames(rawHeaders);
  const headers: string[] = ["Host", host.authority];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || dropped?.has(lower) === true || lower === "host" || lower === "cookie") {
      continue;
    }
    if (lower === "authorization" && verified !== undefined) {
      continue;
    }
    if (isForgery(lower)) {
      continue;
    }
    headers.push(name, lower === "x-forwarded-host" ? host.authority : value);
  }
  if (cookie !== undefined) {
    headers.push("Cookie", cookie);
  }
  if (verified !== undefined) {
    addIdentity(headers, verified, now);
  }
  return headers;
}

/** Headers of an answer without those of the connection to the service. */
export function returnedHeaders(rawHeaders: readonly string[]): string[] {
  const dropped = connectionNames(rawHeaders);
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const lower = name.toLowerCase();
    if (!HOP_BY_HOP.has(lower) && dropped?.has(lower) !== true) {
      headers.push(name, rawHeaders[index + 1] as string);
    }
  }
  return headers;
}

function isForgery(lower: string): boolean {
  // CGI-style services make one variable of `x-auth-userid`, `x_auth_userid` and `x.auth.userid`.
  const spelled = lower.replaceAll(/[^a-z0-9]/g, "-");
  return FORGEABLE.test(spelled) && !FROM_INGRESS.has(lower);
}

function connectionNames(rawHeaders: readonly string[]): Set<string> | undefined {
  let names: Set<string> | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if ((rawHeaders[index] as string).toLowerCase() === "connection") {
      names ??= new Set();
      for (const name of (rawHeaders[index + 1] as string).split(",")) {
        names.add(name.trim().toLowerCase());
      }
    }
  }
  // A client must not be able to have the body's length or the ingress's word taken away.
  for (const kept of ["content-length", "authorization", ...FROM_INGRESS]) {
    names?.delete(kept);
  }
  return names;
}

function addIdentity(headers: string[], { token, claims, identity }: VerifiedToken, now: number): void {
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined && value !== "") {
      headers.push(name, toHeaderValue(value));
    }
  };
  headers.push("Authorization", `Bearer ${token}`, "X-Auth-Token", token);
  add("X-Auth-Userid", identity.userId);
  add("X-Auth-Subject", identity.userId);
  add("X-Auth-Username", identity.username);
  add("X-Auth-Email", claims.email);
  add("X-Auth-Roles", toList(identity.realmRoles));
  add("X-Auth-Groups", toList(identity.groups));
  add("X-Auth-Audience", toList(audiencesOf(claims)));
  add("X-Auth-Expiresin", String(Math.max(0, Math.floor(claims.exp - now / 1000))));
}

/** Items of a list are separated by commas; a comma inside one would make two of it. */
function toList(items: readonly string[]): string {
  return items.map((item) => item.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
}

/** UTF-8 bytes as HTTP carries them; control characters, which could begin another header, are percent-encoded. */
function toHeaderValue(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const safe = text.replaceAll(/[\u0000-\u001f\u007f]/g, encodeURIComponent);
  // oxlint-disable-next-line no-control-regex -- as above
  return /^[\u0000-\u007f]*$/.test(safe) ? safe : Buffer.from(safe, "utf8").toString("latin1");
}
