import { Refusal } from "../errors.ts";

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
 * The value of a cookie. Another host of the domain can plant a second cookie of the same name; which one comes first is
 * then its choice, so neither is taken.
 * @throws {Refusal} AMBIGUOUS_COOKIES
 */
export function readCookie(cookies: RequestCookies, name: string): string | undefined {
  const values = new Set(cookies.filter(([key]) => key === name).map(([, value]) => value));
  if (values.size > 1) {
    throw new Refusal("AMBIGUOUS_COOKIES", { because: `${name}; delete the cookies of this site` });
  }
  const [value] = values;
  return value === "" ? undefined : value;
}

/** The Cookie header without some cookies; `undefined` when none are left. */
export function withoutCookies(cookies: RequestCookies, isHidden: (name: string) => boolean): string | undefined {
  const kept = cookies
    .filter(([name]) => !isHidden(name))
    .map(([name, value]) => (name === "" ? value : `${name}=${value}`));
  return kept.length === 0 ? undefined : kept.join("; ");
}

export interface CookieOptions {
  readonly domain?: string;
  readonly secure: boolean;
  /** Seconds; until the browser closes when left out, 0 deletes. */
  readonly maxAge?: number;
}

/** Browsers drop cookies whose name and value together are longer (RFC 6265 §6.1). */
const LONGEST_COOKIE = 4096;

/**
 * A Set-Cookie header that scripts cannot read and other sites cannot make a browser send along with more than a navigation.
 * @throws {Refusal} TOKEN_TOO_LARGE
 */
export function renderCookie(name: string, value: string, { domain, secure, maxAge }: CookieOptions): string {
  if (name.length + value.length > LONGEST_COOKIE) {
    throw new Refusal("TOKEN_TOO_LARGE", { because: `${name} would have ${value.length} bytes` });
  }
  return [
    `${name}=${value}`,
    "Path=/",
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
    "HttpOnly",
    "SameSite=Lax",
    ...(secure ? ["Secure"] : []),
  ].join("; ");
}
