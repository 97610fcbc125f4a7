/** The cookies of a request, in their order, duplicates kept. */
export type RequestCookies = readonly (readonly [name: string, value: string])[];

/** Reads a Cookie header (RFC 6265 §5.4) without decoding anything. */
export function parseCookies(header: string | undefined): RequestCookies {
  if (header === undefined) {
    return [];
  }
  return header.split(";").map((pair) => {
    const at = pair.indexOf("=");
    return at < 0 ? ["", pair.trim()] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
}

/**
 * The different values that came under a name. Another host of the domain can plant a second cookie of the same name; which of the
 * two comes first is then its choice, so neither may be taken.
 */
export function valuesOfCookie(cookies: RequestCookies, name: string): readonly string[] {
  return [...new Set(cookies.filter(([key]) => key === name).map(([, value]) => value))];
}

/** The value of a cookie; none when it came with different ones. */
export function readCookie(cookies: RequestCookies, name: string): string | undefined {
  const [value, ...others] = valuesOfCookie(cookies, name);
  return others.length === 0 ? value : undefined;
}

export interface CookieOptions {
  readonly domain?: string;
  readonly secure: boolean;
  /** Strict: sent only with requests that pages of this deployment cause. */
  readonly sameSite: "Strict" | "Lax";
  /** Seconds; until the browser closes when left out, 0 deletes. */
  readonly maxAge?: number;
}

/** Browsers drop cookies whose name and value together are longer (RFC 6265 §6.1). */
export const MAX_COOKIE = 4096;

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
