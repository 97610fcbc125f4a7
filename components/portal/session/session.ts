import {
  type Administrators,
  IssuerUnavailableError,
  TokenError,
  type TokenVerifier,
  type VerifiedToken,
  isAdministrator,
  parseCookies,
} from "@swath/auth";
import { Problem } from "@swath/service";

import type { Refresher } from "./refresher.ts";
import type { TokenCookies } from "./token-cookies.ts";

/** Whom a request comes from. */
export interface Session {
  readonly verified: VerifiedToken;
  /** Whether the access token says that this is an administrator; who may look at what is theirs is asked anew each time. */
  readonly isAdmin: boolean;
}

export interface FoundSession {
  readonly session: Session | undefined;
  /** Set-Cookie values: a login that was renewed, or one that ended. */
  readonly setCookies: readonly string[];
}

export interface SessionFinder {
  /**
   * The login that the cookies hold, renewed when its access token ends soon.
   * @throws {Problem} 503 when nobody can say now
   */
  readonly find: (cookieHeader: string | undefined, options?: FindOptions) => Promise<FoundSession>;
}

interface FindOptions {
  /** Ask the identity service whether the login still is one: it may have been ended elsewhere. */
  readonly confirm?: boolean;
}

interface SessionFinderDeps {
  readonly verifier: TokenVerifier;
  readonly refresher: Refresher;
  readonly cookies: TokenCookies;
  /** Whether the identity service still knows the login of a token. */
  readonly isAlive: (verified: VerifiedToken) => Promise<boolean>;
  /** Whose tokens are taken: the own client, and audiences that this page is among. */
  readonly audiences: readonly string[];
  readonly administrators: Administrators;
  readonly clock?: () => number;
}

/** Seconds before its end at which an access token is replaced: longer than any request to a service takes to begin. */
export const RENEW_BEFORE = 60;

export function createSessionFinder(deps: SessionFinderDeps): SessionFinder {
  const { verifier, refresher, cookies: tokenCookies, isAlive, audiences, administrators, clock = Date.now } = deps;

  const toSession = (verified: VerifiedToken): Session => ({
    verified,
    isAdmin: isAdministrator(verified.identity, administrators),
  });

  const check = async (token: string): Promise<VerifiedToken | undefined> => {
    try {
      return await verifier.verify(token, { audiences });
    } catch (error) {
      if (error instanceof TokenError) {
        return undefined;
      }
      throw error;
    }
  };

  const find = async (header: string | undefined, { confirm = false }: FindOptions = {}): Promise<FoundSession> => {
    const { accessToken, refreshToken } = tokenCookies.read(parseCookies(header));
    const accepted = accessToken === undefined ? undefined : await check(accessToken);
    const hasEnded = accepted !== undefined && confirm && !(await isAlive(accepted));
    const present = hasEnded ? undefined : accepted;
    const isFresh = present !== undefined && present.claims.exp - clock() / 1000 > RENEW_BEFORE;
    if (isFresh || refreshToken === undefined) {
      return { session: present && toSession(present), setCookies: hasEnded ? tokenCookies.clear() : [] };
    }
    let tokens;
    try {
      tokens = await refresher.refresh(refreshToken);
    } catch (error) {
      if (present !== undefined) {
        // Still good for a moment, while the identity service comes back.
        return { session: toSession(present), setCookies: [] };
      }
      throw error;
    }
    const renewed = tokens === undefined ? undefined : await check(tokens.accessToken);
    if (tokens === undefined || renewed === undefined) {
      // Only a login that is known to have ended leaves the browser: the gatekeeper, or another replica, may have renewed this one at
      // the same time, with an issuer that takes a refresh token once; the browser has its cookies by now.
      return { session: present && toSession(present), setCookies: hasEnded ? tokenCookies.clear() : [] };
    }
    return { session: toSession(renewed), setCookies: tokenCookies.keep(tokens) };
  };

  return {
    find: async (header, options) => {
      try {
        return await find(header, options);
      } catch (error) {
        if (error instanceof IssuerUnavailableError) {
          throw new Problem(503, "The identity service does not answer; try again in a moment.", {
            cause: error,
            headers: { "retry-after": "2" },
          });
        }
        throw error;
      }
    },
  };
}
