import { Problem } from "@swath/service";
import * as openid from "openid-client";

import { type RequestCookies, renderCookie } from "./cookies.ts";
import type { OidcClient } from "./oidc-client.ts";
import { readReturnPath } from "./return-path.ts";
import type { TokenSet } from "./token-cookies.ts";

/** What a browser is sent to. */
export interface Redirect {
  readonly location: string;
  readonly setCookies: readonly string[];
}

interface LoginFlowOptions {
  readonly client: OidcClient;
  /** `https://portal.example.org` */
  readonly publicUrl: string;
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
const MOST_PENDING = 8;
const SCOPE = "openid profile email";

/** Logging in: authorization code with PKCE (RFC 6749 §4.1, RFC 7636, RFC 9207, OpenID Connect Core §3.1). */
export interface LoginFlow {
  readonly start: (cookies: RequestCookies, returnTo: string | undefined) => Promise<Redirect>;
  /** @throws {Problem} 400 saying why the login was not completed */
  readonly finish: (cookies: RequestCookies, query: string) => Promise<Redirect & { readonly tokens: TokenSet }>;
}

/**
 * What is pending lives in a cookie that only this host and no script sees, named after the state: nothing is kept here, and
 * several tabs may log in at once. Lax, because an identity service may be on another site.
 */
export function createLoginFlow({ client, publicUrl }: LoginFlowOptions): LoginFlow {
  const secure = publicUrl.startsWith("https:");
  const prefix = `${secure ? "__Host-" : ""}portal_login_`;
  const nameOf = (state: string) => `${prefix}${state.slice(0, 16)}`;
  const forget = (name: string) => renderCookie(name, "", { secure, sameSite: "Lax", maxAge: 0 });

  return {
    start: async (cookies, returnTo) => {
      const configuration = await client.configuration();
      const pending: Pending = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
        returnTo: readReturnPath(returnTo),
      };
      const location = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: `${publicUrl}/auth/callback`,
        scope: SCOPE,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: "S256",
      });
      const older = [...cookies.keys()].filter((name) => name.startsWith(prefix));
      return {
        location: location.href,
        setCookies: [
          ...older.slice(0, Math.max(0, older.length - MOST_PENDING + 1)).map(forget),
          renderCookie(nameOf(pending.state), Buffer.from(JSON.stringify(pending)).toString("base64url"), {
            secure,
            sameSite: "Lax",
            maxAge: TIME_TO_LOG_IN,
          }),
        ],
      };
    },
    finish: async (cookies, query) => {
      const state = new URLSearchParams(query).get("state") ?? "";
      const name = nameOf(state);
      const pending = readPending(cookies.get(name));
      if (pending === undefined || pending.state !== state) {
        throw failed("it was begun in another browser, or too long ago");
      }
      const configuration = await client.configuration();
      try {
        const tokens = await openid.authorizationCodeGrant(
          configuration,
          new URL(`${publicUrl}/auth/callback${query}`),
          {
            expectedState: pending.state,
            expectedNonce: pending.nonce,
            pkceCodeVerifier: pending.verifier,
            idTokenExpected: true,
          },
        );
        return {
          location: `${publicUrl}${pending.returnTo}`,
          setCookies: [forget(name)],
          tokens: { accessToken: tokens.access_token, refreshToken: tokens.refresh_token },
        };
      } catch (cause) {
        throw failed(reasonOf(cause), cause);
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
function reasonOf(error: unknown): string {
  if (error instanceof openid.AuthorizationResponseError) {
    return error.error === "access_denied"
      ? "it was cancelled"
      : `the identity service said ${/^[a-z_]{1,40}$/.test(error.error) ? error.error : "nothing of use"}`;
  }
  if (error instanceof openid.ResponseBodyError) {
    return "it was completed already, or took too long";
  }
  return "the identity service's answer was not acceptable";
}

function failed(reason: string, cause?: unknown): Problem {
  return new Problem(400, `The login was not completed: ${reason}.`, { title: "Not logged in", cause });
}
