import { Problem } from "@swath/service";
import * as openid from "openid-client";

import { type RequestCookies, readCookie, renderCookie } from "../cookies.ts";
import { LoginFailure } from "./login-failure.ts";
import { type OidcClient, withUserAgent } from "./oidc-client.ts";

/** What a login ends with. */
interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  /** The issuer's session, by which it tells of its end. */
  readonly sessionId: string | undefined;
}

/** What a browser is sent to. */
export interface Redirect {
  readonly location: string;
  readonly setCookies: readonly string[];
}

interface LoginFlowOptions {
  readonly client: OidcClient;
  /** `https://portal.example.org` */
  readonly publicUrl: string;
  /** Where the identity service sends browsers back to: `/auth/callback`. */
  readonly callbackPath: string;
  /** How the cookies begin that hold what is pending: `portal_login_`. */
  readonly cookiePrefix: string;
  /** What is asked for; `openid profile email` when left out. */
  readonly scope?: string;
  /** A path of this host, from a parameter that anyone may have written. */
  readonly readReturnPath: (parameter: string | undefined) => string;
}

interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly returnTo: string;
}

/** Seconds a person may take to log in. */
const TIME_TO_LOG_IN = 1800;
/** Logins begun and not finished that a browser keeps, one a tab. */
const MAX_PENDING = 8;
const SCOPE = "openid profile email";

/** Logging in as a public client: authorization code with PKCE (RFC 6749 §4.1, RFC 7636, RFC 9207, OpenID Connect Core §3.1). */
export interface LoginFlow {
  /** @throws {LoginFailure} when the identity service does not answer */
  readonly start: (cookies: RequestCookies, returnTo: string | undefined) => Promise<Redirect>;
  /**
   * @param query of the callback, with its question mark
   * @param userAgent of the browser, for the user's list of sessions
   * @throws {LoginFailure} saying why the login was not completed
   */
  readonly finish: (
    cookies: RequestCookies,
    query: string,
    userAgent?: string,
  ) => Promise<Redirect & { readonly tokens: Tokens }>;
}

/**
 * What is pending lives in a cookie that only this host and no script sees, named after the state: nothing is kept here, and
 * several tabs may log in at once. Lax, because an identity service may be on another site.
 */
export function createLoginFlow(options: LoginFlowOptions): LoginFlow {
  const { client, publicUrl, callbackPath, cookiePrefix, scope = SCOPE, readReturnPath } = options;
  const secure = publicUrl.startsWith("https:");
  const prefix = `${secure ? "__Host-" : ""}${cookiePrefix}`;
  const nameOf = (state: string) => `${prefix}${state.slice(0, 16)}`;
  const forget = (name: string) => renderCookie(name, "", { secure, sameSite: "Lax", maxAge: 0 });

  const configure = async (): Promise<openid.Configuration> => {
    try {
      return await client.configuration();
    } catch (cause) {
      throw toLoginFailure(cause);
    }
  };

  return {
    start: async (cookies, returnTo) => {
      const configuration = await configure();
      const pending: Pending = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
        returnTo: readReturnPath(returnTo),
      };
      const location = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: `${publicUrl}${callbackPath}`,
        scope,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: "S256",
      });
      const older = [...new Set(cookies.map(([name]) => name).filter((name) => name.startsWith(prefix)))];
      return {
        location: location.href,
        setCookies: [
          ...older.slice(0, Math.max(0, older.length - MAX_PENDING + 1)).map(forget),
          renderCookie(nameOf(pending.state), Buffer.from(JSON.stringify(pending)).toString("base64url"), {
            secure,
            sameSite: "Lax",
            maxAge: TIME_TO_LOG_IN,
          }),
        ],
      };
    },
    finish: async (cookies, query, userAgent) => {
      const state = new URLSearchParams(query).get("state") ?? "";
      const name = nameOf(state);
      const pending = readPending(readCookie(cookies, name));
      if (pending === undefined || pending.state !== state) {
        throw new LoginFailure("expired", "it was begun in another browser, or too long ago");
      }
      const configuration = await configure();
      try {
        const tokens = await withUserAgent(userAgent, () =>
          openid.authorizationCodeGrant(configuration, new URL(`${publicUrl}${callbackPath}${query}`), {
            expectedState: pending.state,
            expectedNonce: pending.nonce,
            pkceCodeVerifier: pending.verifier,
            idTokenExpected: true,
          }),
        );
        const sid = tokens.claims()?.["sid"];
        return {
          location: `${publicUrl}${pending.returnTo}`,
          setCookies: [forget(name)],
          tokens: {
            accessToken: tokens.access_token,
            refreshToken: tokens.refresh_token,
            idToken: tokens.id_token,
            sessionId: typeof sid === "string" ? sid : undefined,
          },
        };
      } catch (cause) {
        throw toLoginFailure(cause);
      }
    },
  };
}

function readPending(value: string | undefined): Pending | undefined {
  if (value === undefined) {
    return undefined;
  }
  try {
    const found = JSON.parse(Buffer.from(value, "base64url").toString("utf8")) as Partial<Pending> | null;
    const texts = [found?.state, found?.nonce, found?.verifier, found?.returnTo];
    return texts.every((text) => typeof text === "string") ? (found as Pending) : undefined;
  } catch {
    // Whatever stands there is not ours: the same as nothing.
    return undefined;
  }
}

/** What people can make something of; the rest is for the log. */
function toLoginFailure(cause: unknown): LoginFailure {
  if (cause instanceof openid.AuthorizationResponseError) {
    const said = /^[a-z_]{1,40}$/.test(cause.error) ? cause.error : "nothing of use";
    return cause.error === "access_denied"
      ? new LoginFailure("cancelled", "it was cancelled", { cause })
      : new LoginFailure("refused", `the identity service said ${said}`, { cause });
  }
  if (isUnavailable(cause)) {
    return new LoginFailure("unavailable", "the identity service does not answer; try again in a moment", { cause });
  }
  if (cause instanceof openid.ResponseBodyError) {
    return new LoginFailure("expired", "it was completed already, or took too long", { cause });
  }
  return new LoginFailure("refused", "the identity service's answer was not acceptable", { cause });
}

/** What the client says of requests without an answer comes wrapped in errors of its library. */
function isUnavailable(error: unknown): boolean {
  return error instanceof Problem ? error.status === 503 : error instanceof Error && isUnavailable(error.cause);
}
