import type { VerifiedToken } from "@swath/auth";
import * as openid from "openid-client";

import type { OidcClient } from "./oidc-client.ts";

/** Milliseconds an answer holds. */
const GOOD_FOR = 5000;
const MOST_KEPT = 10_000;

/** Asks at the userinfo endpoint (OpenID Connect Core §5.3) whether a token's login still is one. */
export function createIsAlive(client: OidcClient, clock: () => number = Date.now) {
  const known = new Map<string, { readonly until: number; readonly answer: Promise<boolean> }>();

  const ask = async ({ token, claims }: VerifiedToken): Promise<boolean> => {
    try {
      await openid.fetchUserInfo(await client.configuration(), token, claims.sub);
      return true;
    } catch (error) {
      // Only a refusal of the token says that the login has ended; an identity service that is away says nothing.
      return !(error instanceof openid.WWWAuthenticateChallengeError && error.status === 401);
    }
  };

  return (verified: VerifiedToken): Promise<boolean> => {
    const now = clock();
    const entry = known.get(verified.token);
    if (entry !== undefined && entry.until > now) {
      return entry.answer;
    }
    for (const [old, { until }] of known) {
      if (until > now && known.size < MOST_KEPT) {
        break;
      }
      known.delete(old);
    }
    const answer = ask(verified);
    known.delete(verified.token);
    known.set(verified.token, { until: now + GOOD_FOR, answer });
    return answer;
  };
}
