import type { Issuer, RequestCookies } from "@swath/auth";
import { LoginFailure, exchangeCode } from "@swath/auth/login";
import { createHash, randomBytes } from "node:crypto";

import { Refusal } from "../errors.ts";
import type { ProtectedHost } from "../hosts.ts";
import { readOnlyValue, renderTokenCookie } from "../tokens/cookies.ts";
import type { Sealer } from "../tokens/seal.ts";
import type { TokenSet } from "../tokens/token-cookies.ts";

/** What a browser is sent to. */
export interface Redirect {
  readonly location: string;
  readonly setCookies: readonly string[];
}

/** Logging in with a browser: authorization code with PKCE (RFC 6749 §4.1, RFC 7636, OpenID Connect Core §3.1). */
export interface LoginFlow {
  /** @param returnTo where to go afterwards: a canonical path of the host, with its query */
  readonly start: (host: ProtectedHost, cookies: RequestCookies, returnTo: string) => Promise<Redirect>;
  /** @throws {Refusal} LOGIN_FAILED and what went wrong */
  readonly finish: (
    host: ProtectedHost,
    cookies: RequestCookies,
    query: URLSearchParams,
  ) => Promise<{ readonly tokens: TokenSet; readonly returnTo: string }>;
}

interface LoginFlowDeps {
  readonly issuer: Issuer;
  readonly sealer: Sealer;
  readonly clock: () => number;
}

/** Seconds a person may take to log in. */
const TIME_TO_LOG_IN = 1800;
/** A longer address is forgotten in favour of the host's start page: the issuer would refuse it. */
const MAX_RETURN = 2000;
export const CALLBACK_PATH = "/oauth/callback";

interface State {
  readonly id: string;
  readonly host: string;
  readonly returnTo: string;
  readonly until: number;
}

/**
 * Nothing is kept here between start and finish. The browser keeps one random cookie; the sealed `state` says where to
 * return; PKCE verifier and nonce are derived from both with the gatekeeper's key. So a state is good only in the browser
 * and on the host it was made for, in as many tabs as people open.
 */
export function createLoginFlow({ issuer, sealer, clock }: LoginFlowDeps): LoginFlow {
  const cookieName = ({ url }: ProtectedHost) => (isSecure(url) ? "__Host-swath_login" : "swath_login");

  return {
    start: async (host, cookies, returnTo) => {
      const { authorization_endpoint: address } = await issuer.metadata();
      if (address === undefined) {
        throw new Refusal("LOGIN_FAILED", { because: "the identity service has no login page" });
      }
      const name = cookieName(host);
      const present = readOnlyValue(cookies, name);
      const browser =
        present !== undefined && /^[\w-]{43}$/.test(present) ? present : randomBytes(32).toString("base64url");
      const state: State = {
        id: randomBytes(16).toString("base64url"),
        host: host.url,
        returnTo: returnTo.length > MAX_RETURN ? "/" : returnTo,
        until: clock() + TIME_TO_LOG_IN * 1000,
      };
      const verifier = sealer.derive("verifier", browser, state.id);
      const location = new URL(address);
      for (const [key, value] of Object.entries({
        response_type: "code",
        client_id: host.credentials.clientId,
        redirect_uri: `${host.url}${CALLBACK_PATH}`,
        scope: "openid profile email",
        state: sealer.seal(state),
        nonce: sealer.derive("nonce", browser, state.id),
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
      })) {
        location.searchParams.set(key, value);
      }
      return {
        location: location.href,
        setCookies: [renderTokenCookie(name, browser, { secure: isSecure(host.url), maxAge: TIME_TO_LOG_IN })],
      };
    },
    finish: async (host, cookies, query) => {
      const sealed = query.get("state") ?? "";
      const state = sealer.open(sealed) as State | undefined;
      if (state === undefined || state.host !== host.url) {
        throw new Refusal("LOGIN_FAILED", { because: "it was not started here" });
      }
      const browser = readOnlyValue(cookies, cookieName(host));
      if (state.until < clock() || browser === undefined) {
        throw new Refusal("LOGIN_FAILED", { because: "it was started in another browser, or too long ago" });
      }
      const { clientId, secret } = host.credentials;
      try {
        const tokens = await exchangeCode({
          issuer,
          clientId,
          clientSecret: secret,
          callback: new URL(`${host.url}${CALLBACK_PATH}?${query.toString()}`),
          state: query.get("state") ?? "",
          nonce: sealer.sealerOf(sealed).derive("nonce", browser, state.id),
          verifier: sealer.sealerOf(sealed).derive("verifier", browser, state.id),
        });
        return { tokens: { ...tokens, clientId }, returnTo: state.returnTo };
      } catch (cause) {
        throw cause instanceof LoginFailure ? new Refusal("LOGIN_FAILED", { because: cause.message, cause }) : cause;
      }
    },
  };
}

/** Whether a host's address is one that cookies marked Secure are sent to. */
export function isSecure(url: string): boolean {
  return url.startsWith("https:");
}
