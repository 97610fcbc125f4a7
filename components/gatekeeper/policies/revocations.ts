import type { VerifiedToken } from "@swath/auth";
import { hash } from "node:crypto";

/** Which tokens are refused although they have not expired. */
export interface Revocations {
  readonly endSession: (sid: string) => void;
  /** Tokens of the user issued before now. */
  readonly endUser: (sub: string) => void;
  readonly endToken: (token: string) => void;
  readonly isRevoked: (verified: VerifiedToken) => boolean;
}

/** No access token lives longer: what is older than this need not be remembered. */
const LONGEST_LIFE = 7 * 86_400_000;
const MOST_ENTRIES = 100_000;

export function createRevocations(clock: () => number): Revocations {
  const sessions = new Map<string, number>();
  const users = new Map<string, number>();
  const tokens = new Map<string, number>();
  const add = (map: Map<string, number>, key: string) => {
    map.delete(key);
    map.set(key, clock());
    for (const [old, at] of map) {
      if (map.size <= MOST_ENTRIES && at > clock() - LONGEST_LIFE) {
        break;
      }
      map.delete(old);
    }
  };
  return {
    endSession: (sid) => add(sessions, sid),
    endUser: (sub) => add(users, sub),
    endToken: (token) => add(tokens, hash("sha256", token)),
    isRevoked: ({ token, claims }) => {
      if (sessions.size > 0 && claims.sid !== undefined && sessions.has(claims.sid)) {
        return true;
      }
      if (users.size > 0) {
        const since = users.get(claims.sub);
        // `iat` counts whole seconds: within the second of the change nobody can tell, so such a token is refused too.
        if (since !== undefined && (claims.iat ?? 0) <= Math.floor(since / 1000)) {
          return true;
        }
      }
      return tokens.size > 0 && tokens.has(hash("sha256", token));
    },
  };
}
