import { type VerifiedToken, isIssuedBefore } from "@swath/auth";
import { hash } from "node:crypto";

/** Which tokens are refused although they have not expired. */
export interface Revocations {
  readonly endSession: (sid: string) => void;
  /** Tokens of the user issued before now that say nothing of their session, as those of other issuers; who is still logged in renews them. */
  readonly endUnnamedSessions: (sub: string) => void;
  /** Tokens of the user issued before a moment, now when left out. */
  readonly endUser: (sub: string, moment?: number) => void;
  /** The access token with this `jti`. */
  readonly endTokenId: (jti: string) => void;
  readonly endToken: (token: string) => void;
  readonly isRevoked: (verified: VerifiedToken) => boolean;
}

/** No access token lives longer: what is older than this need not be remembered. */
const LONGEST_LIFE = 7 * 86_400_000;
const MOST_ENTRIES = 100_000;

export function createRevocations(clock: () => number): Revocations {
  const sessions = new Map<string, number>();
  const users = new Map<string, number>();
  const unnamed = new Map<string, number>();
  const tokens = new Map<string, number>();
  const ids = new Map<string, number>();
  const isBefore = (since: number | undefined, claims: VerifiedToken["claims"]) =>
    since !== undefined && isIssuedBefore(claims, since);
  const add = (map: Map<string, number>, key: string, moment = clock()) => {
    map.delete(key);
    map.set(key, moment);
    for (const [old, at] of map) {
      if (map.size <= MOST_ENTRIES && at > clock() - LONGEST_LIFE) {
        break;
      }
      map.delete(old);
    }
  };
  return {
    endSession: (sid) => add(sessions, sid),
    endUnnamedSessions: (sub) => add(unnamed, sub),
    endUser: (sub, moment) => add(users, sub, moment),
    endTokenId: (jti) => add(ids, jti),
    endToken: (token) => add(tokens, hash("sha256", token)),
    isRevoked: ({ token, claims }) => {
      if (sessions.size > 0 && claims.sid !== undefined && sessions.has(claims.sid)) {
        return true;
      }
      if (users.size > 0 && isBefore(users.get(claims.sub), claims)) {
        return true;
      }
      if (unnamed.size > 0 && claims.sid === undefined && isBefore(unnamed.get(claims.sub), claims)) {
        return true;
      }
      if (ids.size > 0 && claims.jti !== undefined && ids.has(claims.jti)) {
        return true;
      }
      return tokens.size > 0 && tokens.has(hash("sha256", token));
    },
  };
}
