import type { VerifiedToken } from "@swath/auth";
import { USER_ID_HEADER, audiencesOf } from "@swath/auth";
import { FROM_INGRESS, HOP_BY_HOP, connectionNames } from "@swath/relay";

import type { CanonicalHost } from "../canonical/canonical-host.ts";

/** What a client can say in headers that services would take for ours, in any spelling that maps to the same variable name. */
const FORGEABLE = /^x-(?:auth|uma|forwarded|original|rewrite)-|^forwarded$|^proxy-?$/;

interface ForwardOptions {
  readonly rawHeaders: readonly string[];
  readonly host: CanonicalHost;
  /** What is left of the Cookie header. */
  readonly cookie: string | undefined;
  readonly verified: VerifiedToken | undefined;
  /** Thumbprint of the key that the sender has shown to hold, of a token that is bound to it. */
  readonly boundTo?: string | undefined;
  /** Services read the token in `X-User-Id`, too (variant B). */
  readonly userIdHeader?: boolean;
  readonly now: number;
}

/**
 * The headers of a request as the service behind gets them, as a flat list of names and values: the client's own without
 * those of its connection and without any that could be taken for the gatekeeper's, then the verified identity.
 */
export function forwardedHeaders(options: ForwardOptions): string[] {
  const { rawHeaders, host, cookie, verified, boundTo, userIdHeader = false, now } = options;
  const dropped = connectionNames(rawHeaders);
  const headers: string[] = ["Host", host.authority];
  const hasAuthorization = rawHeaders.some((name, index) => index % 2 === 0 && name.toLowerCase() === "authorization");
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || dropped?.has(lower) === true || lower === "host" || lower === "cookie") {
      continue;
    }
    if ((lower === "authorization" || lower === "dpop") && verified !== undefined) {
      continue;
    }
    if (isForgery(lower)) {
      continue;
    }
    if (userIdHeader && lower.replaceAll(/[^a-z0-9]/g, "-") === USER_ID_HEADER) {
      // A token that was not accepted is for the service to refuse: without it, its sender would pass for nobody.
      if (verified === undefined && lower === USER_ID_HEADER && !hasAuthorization && value.trim() !== "") {
        headers.push("Authorization", `Bearer ${value.trim()}`);
      }
      continue;
    }
    headers.push(name, lower === "x-forwarded-host" ? host.authority : value);
  }
  if (cookie !== undefined) {
    headers.push("Cookie", cookie);
  }
  if (verified !== undefined) {
    addIdentity(headers, verified, now);
    if (boundTo !== undefined) {
      headers.push("X-Auth-Token-Key", boundTo);
    }
    if (userIdHeader) {
      headers.push("X-User-Id", verified.token);
    }
  }
  return headers;
}

function isForgery(lower: string): boolean {
  // CGI-style services make one variable of `x-auth-userid`, `x_auth_userid` and `x.auth.userid`.
  const spelled = lower.replaceAll(/[^a-z0-9]/g, "-");
  return FORGEABLE.test(spelled) && !FROM_INGRESS.has(lower);
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
