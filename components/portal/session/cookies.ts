/** Values of a request's cookies by name, without decoding. A name that came twice with different values has none. */
export type RequestCookies = ReadonlyMap<string, string | undefined>;

/**
 * Reads a Cookie header (RFC 6265 §5.4). Another host of the domain can plant a second cookie of the same name; which of the two
 * comes first is then its choice, so neither is taken.
 */
export function parseCookies(header: string | undefined): RequestCookies {
  const found = new Map<string, string | undefined>();
  for (const pair of (header ?? "").split(";")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(at, 0)).trim();
    const value = pair.slice(at + 1).trim();
    if (at > 0) {
      found.set(name, found.has(name) && found.get(name) !== value ? undefined : value);
    }
  }
  return found;
}

export interface CookieOptions {
  readonly domain?: string;
  readonly secure: boolean;
  /** Strict: sent only with requests that pages of this deployment cause. */
  readonly sameSite: "Strict" | "Lax";
  /** Seconds; until the browser closes when left out, 0 deletes. */
  readonly maxAge?: number;
}

/** A Set-Cookie header for the whole host or domain that no script can read. */
export function renderCookie(name: string, value: string, options: CookieOptions): string {
  const { domain, secure, sameSite, maxAge } = options;
  return [
    `${name}=${value}`,
    "Path=/",
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
    "HttpOnly",
    `SameSite=${sameSite}`,
    ...(secure ? ["Secure"] : []),
  ].join("; ");
}
