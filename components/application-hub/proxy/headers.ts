import { FROM_INGRESS, HOP_BY_HOP, connectionNames } from "@swath/relay";
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

interface HeaderRules {
  /** Cookies that servers must not see. */
  readonly hiddenCookies: ReadonlySet<string>;
}

/** What a client may not say for us. */
const FORGEABLE = /^x-(?:auth|original|rewrite|swath)-|^forwarded$|^proxy-?$/;

/** The headers of a request for the hub itself. */
export function toHubHeaders({ rawHeaders }: IncomingMessage): string[] {
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

/** What the proxy tells a server of the sender of a request. */
export interface ServerVisitor {
  readonly user: string;
  /** The sender's `Authorization` goes on as it came (an application's own), or this one does; none where left out. */
  readonly authorization?: "as sent" | { readonly token: string };
}

/**
 * The headers of a request as a server gets them: the client's own without those of its connection, without cookies and tokens of the
 * platform, and with the user's name.
 */
export function toServerHeaders(
  { rawHeaders }: IncomingMessage,
  { hiddenCookies }: HeaderRules,
  { user, authorization }: ServerVisitor,
  host: "own" | "hub" = "own",
): string[] {
  const dropped = connectionNames(rawHeaders);
  const headers: string[] = [];
  const proof = typeof authorization === "object" ? XSRF_PROOF : undefined;
  let hasProof = false;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || dropped?.has(lower) === true) {
      continue;
    }
    // What let the request in was for the hub: what runs in a server could act with it. So could it with an access token of the platform.
    if (lower === "authorization" && (authorization !== "as sent" || isAccessToken(value))) {
      continue;
    }
    // Cookies of the hub's host are not the server's.
    if (lower === "cookie" && host === "hub") {
      continue;
    }
    if (proof !== undefined && lower === "x-xsrftoken") {
      continue;
    }
    if (lower === "cookie") {
      const kept = value
        .split(";")
        .map((pair) => pair.trim())
        .filter((pair) => !isHidden(pair.split("=", 1)[0] ?? "", hiddenCookies))
        .filter((pair) => proof === undefined || !pair.startsWith("_xsrf="));
      if (proof !== undefined) {
        kept.push(`_xsrf=${proof}`);
        hasProof = true;
      }
      if (kept.length > 0) {
        headers.push(name, kept.join("; "));
      }
    } else if (!FORGEABLE.test(lower.replaceAll(/[^a-z0-9]/g, "-")) || FROM_INGRESS.has(lower)) {
      headers.push(name, value);
    }
  }
  if (typeof authorization === "object") {
    headers.push("Authorization", `token ${authorization.token}`, "X-XSRFToken", XSRF_PROOF);
    if (!hasProof) {
      headers.push("Cookie", `_xsrf=${XSRF_PROOF}`);
    }
  }
  headers.push("X-Swath-User", encodeURIComponent(user));
  return headers;
}

/**
 * Jupyter's servers take a change only with the value of their own cookie, which pages of other sites do not know. A request with a token comes
 * from none, and its sender has no cookie: any value will do, in both places (double submit, as tornado checks it).
 */
const XSRF_PROOF = randomBytes(16).toString("hex");

const isAccessToken = (authorization: string): boolean => /^\S+\s+[\w-]+\.[\w-]+\.[\w-]+\s*$/.test(authorization);

/** Headers of a server's answer: its cookies are its own host's, and never those of the platform or of the hub. */
export function toClientHeaders(headers: readonly string[], { hiddenCookies }: HeaderRules): string[] {
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    if (name.toLowerCase() !== "set-cookie") {
      kept.push(name, value);
      continue;
    }
    if (!isHidden(value.split("=", 1)[0]?.trim() ?? "", hiddenCookies)) {
      kept.push(name, value.replaceAll(/;\s*domain=[^;]*/gi, ""));
    }
  }
  return kept;
}

const isHidden = (name: string, hidden: ReadonlySet<string>): boolean =>
  hidden.has(name) || hidden.has(name.replace(/^__Host-/, "")) || /^(?:__Host-)?swath_hub/.test(name);
