import { type CookieOptions, renderTokenCookie } from "./cookies.ts";
import { type Sealer, isSealed } from "./seal.ts";

/** The tokens of a login, as the token endpoint answered. */
export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Client the tokens were issued to. */
  readonly clientId: string;
}

/** A refresh token found in a cookie. `clientId` is known of those that were set here. */
export interface FoundRefreshToken {
  readonly refreshToken: string;
  readonly clientId: string | undefined;
}

export interface TokenCookieNames {
  readonly access: string;
  readonly refresh: string;
}

/** How tokens live in a browser: the two cookies of the portal, for the whole domain. */
export interface TokenCookies {
  readonly names: TokenCookieNames;
  readonly isTokenCookie: (name: string) => boolean;
  /** Set-Cookie values that keep a login. */
  readonly keep: (tokens: TokenSet, secure: boolean) => readonly string[];
  /** Set-Cookie values that end it, on this host too, should somebody have planted one there. */
  readonly clear: (secure: boolean) => readonly string[];
  readonly readRefreshToken: (value: string) => FoundRefreshToken | undefined;
}

interface TokenCookiesDeps {
  readonly names: TokenCookieNames;
  /** `.example.org` */
  readonly domain: string;
  readonly sealer: Sealer;
  /** Clients of the gatekeeper: their refresh tokens are sealed, since only the gatekeeper can use them. */
  readonly isOwnClient: (clientId: string) => boolean;
}

export function createTokenCookies({ names, domain, sealer, isOwnClient }: TokenCookiesDeps): TokenCookies {
  return {
    names,
    isTokenCookie: (name) => name === names.access || name === names.refresh,
    keep: ({ accessToken, refreshToken, clientId }, secure) => {
      const options: CookieOptions = { domain, secure };
      return [
        renderTokenCookie(names.access, accessToken, options),
        ...(refreshToken === undefined
          ? []
          : [
              renderTokenCookie(
                names.refresh,
                // The portal refreshes its own login with what it finds here, so that stays readable.
                isOwnClient(clientId) ? sealer.seal({ t: refreshToken, c: clientId }) : refreshToken,
                options,
              ),
            ]),
      ];
    },
    clear: (secure) =>
      [names.access, names.refresh].flatMap((name) => [
        renderTokenCookie(name, "", { domain, secure, maxAge: 0 }),
        renderTokenCookie(name, "", { secure, maxAge: 0 }),
      ]),
    readRefreshToken: (value) => {
      if (!isSealed(value)) {
        return { refreshToken: value, clientId: undefined };
      }
      const opened = sealer.open(value) as { t?: unknown; c?: unknown } | undefined;
      return typeof opened?.t === "string" && typeof opened.c === "string"
        ? { refreshToken: opened.t, clientId: opened.c }
        : undefined;
    },
  };
}
