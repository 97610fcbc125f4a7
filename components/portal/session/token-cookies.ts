import { type CookieOptions, MAX_COOKIE, type RequestCookies, readCookie, renderCookie } from "@swath/auth";
import { Problem } from "@swath/service";

/** The tokens of a login. */
export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

/** What the identity service gave for a login. */
export interface LoginTokens extends TokenSet {
  readonly idToken: string | undefined;
}

/** The tokens of a login that services take: its ID token in place of the access token where clients of variant B expect it. */
export function chooseTokens({ accessToken, refreshToken, idToken }: LoginTokens, useIdTokens: boolean): TokenSet {
  return { accessToken: useIdTokens ? (idToken ?? accessToken) : accessToken, refreshToken };
}

export interface TokenCookieSettings {
  readonly accessName: string;
  readonly accessDomain: string;
  readonly refreshName: string;
  readonly refreshDomain: string;
  readonly secure: boolean;
}

/** How refresh tokens begin that the gatekeeper sealed. */
const SEALED = "s1.";

/** How a login lives in a browser: two cookies for the whole domain, which the gatekeeper reads and renews as well. */
export interface TokenCookies {
  readonly read: (cookies: RequestCookies) => Partial<TokenSet>;
  /** Set-Cookie values that keep a login until the browser closes. @throws {Problem} 500 when a token is too long */
  readonly keep: (tokens: TokenSet) => readonly string[];
  /** Set-Cookie values that end it, on this host too, should somebody have planted one there. */
  readonly clear: () => readonly string[];
}

export function createTokenCookies(settings: TokenCookieSettings): TokenCookies {
  const { accessName, accessDomain, refreshName, refreshDomain, secure } = settings;
  const shared = { secure, sameSite: "Strict" } satisfies CookieOptions;
  const render = (name: string, value: string, domain: string) => {
    if (name.length + value.length > MAX_COOKIE) {
      throw new Problem(
        500,
        `The token for cookie ${name} has ${value.length} bytes and browsers keep no more than ${MAX_COOKIE}: this user has too many roles and groups. Ask an administrator to take some away.`,
      );
    }
    return renderCookie(name, value, { ...shared, domain });
  };
  return {
    read: (cookies) => {
      const refreshToken = readCookie(cookies, refreshName);
      return {
        ...presentAs("accessToken", readCookie(cookies, accessName)),
        // Logins begun at a protected host have one that only the gatekeeper can use: it is left to it.
        ...presentAs("refreshToken", refreshToken?.startsWith(SEALED) === true ? undefined : refreshToken),
      };
    },
    keep: ({ accessToken, refreshToken }) => [
      render(accessName, accessToken, accessDomain),
      ...(refreshToken === undefined ? [] : [render(refreshName, refreshToken, refreshDomain)]),
    ],
    clear: () =>
      [
        [accessName, accessDomain],
        [refreshName, refreshDomain],
      ].flatMap(([name = "", domain = ""]) => [
        renderCookie(name, "", { ...shared, domain, maxAge: 0 }),
        renderCookie(name, "", { ...shared, maxAge: 0 }),
      ]),
  };
}

function presentAs<K extends keyof TokenSet>(key: K, value: string | undefined): { [P in K]?: string } {
  return value === undefined || value === "" ? {} : ({ [key]: value } as { [P in K]?: string });
}
