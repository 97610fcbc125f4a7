import {
  MAX_COOKIE,
  type CookieOptions as Options,
  type RequestCookies,
  renderCookie,
  valuesOfCookie,
} from "@swath/auth";

import { Refusal } from "../errors.ts";

/**
 * The value of a cookie, if it has one.
 * @throws {Refusal} AMBIGUOUS_COOKIES when it came with different values
 */
export function readOnlyValue(cookies: RequestCookies, name: string): string | undefined {
  const [value, ...others] = valuesOfCookie(cookies, name);
  if (others.length > 0) {
    throw new Refusal("AMBIGUOUS_COOKIES", { because: `${name}; delete the cookies of this site` });
  }
  return value === "" ? undefined : value;
}

/** The Cookie header without some cookies; `undefined` when none are left. */
export function withoutCookies(cookies: RequestCookies, isHidden: (name: string) => boolean): string | undefined {
  const kept = cookies
    .filter(([name]) => !isHidden(name))
    .map(([name, value]) => (name === "" ? value : `${name}=${value}`));
  return kept.length === 0 ? undefined : kept.join("; ");
}

export type CookieOptions = Omit<Options, "sameSite">;

/**
 * A Set-Cookie header that scripts cannot read and other sites cannot make a browser send along with more than a navigation.
 * @throws {Refusal} TOKEN_TOO_LARGE
 */
export function renderTokenCookie(name: string, value: string, options: CookieOptions): string {
  if (name.length + value.length > MAX_COOKIE) {
    throw new Refusal("TOKEN_TOO_LARGE", { because: `${name} would have ${value.length} bytes` });
  }
  return renderCookie(name, value, { ...options, sameSite: "Lax" });
}
