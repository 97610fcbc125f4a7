import type { VerifiedToken } from "@swath/auth";
import type { OidcClient } from "@swath/auth/login";
import * as openid from "openid-client";

/** Milliseconds an answer holds. */
const CACHE_TTL_MS = 5000;
const MAX_KEPT = 10_000;

/** Whether logins still are. */
export interface SessionChecker {
  readonly isAlive: (verified: VerifiedToken) => Promise<boolean>;
  /** Asks anew the next time: the login was ended here. */
  readonly forget: (token: string) => void;
}

/** Asks at the userinfo endpoint (OpenID Connect Core §5.3) whether a token's login still is one. */
export function createSessionChecker(client: OidcClient, clock: () => number = Date.now): SessionChecker {
  const known = new Map<string, { readonly until: number; readonly answer: Promise<boolean> }>();

  const send = async ({ token, claims }: VerifiedToken): Promise<boolean> => {
    try {
      await openid.fetchUserInfo(await client.configuration(), token, claims.sub);
      return true;
    } catch (error) {
      // Only a refusal of the token says that the login has ended; an identity service that is away says nothing.
      return !(error instanceof openid.WWWAuthenticateChallengeError && error.status === 401);
    }
  };

  const isAlive = (verified: VerifiedToken): Promise<boolean> => {
    const now = clock();
    const entry = known.get(verified.token);
    if (entry !== undefined && entry.until > now) {
      return entry.answer;
    }
    for (const [old, { until }] of known) {
      if (until > now && known.size < MAX_KEPT) {
        break;
      }
      known.delete(old);
    }
    const response = send(verified);
    known.delete(verified.token);
    known.set(verified.token, { until: now + CACHE_TTL_MS, answer: response });
    return response;
  };
  return { isAlive, forget: (token) => known.delete(token) };
}
