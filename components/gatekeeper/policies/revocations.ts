import { type VerifiedToken, isIssuedBefore } from "@swath/auth";
import { hash } from "node:crypto";

/** Which tokens are refused although they have not expired. */
export interface Revocations {
  readonly endSession: (sid: string) => void;
  /** Tokens of the user issued before a moment, now when left out. */
  readonly endUser: (sub: string, moment?: number) => void;
  /** The access token with this `jti`. */
  readonly endTokenId: (jti: string) => void;
  readonly endToken: (token: string) => void;
  /** A login that ended at some moment: a token, a session, or without its id all sessions of a user. */
  readonly end: (ended: Ended) => void;
  readonly isRevoked: (verified: VerifiedToken) => boolean;
}

/** A login that has ended, as replicas tell each other. */
export interface Ended {
  readonly sessionId?: string | undefined;
  readonly userId?: string | undefined;
  readonly tokenHash?: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** No access token lives longer: what is older than this need not be remembered. In milliseconds. */
export const MAX_LIFE = 7 * 86_400_000;
const MAX_ENTRIES = 100_000;

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
      if (map.size <= MAX_ENTRIES && at > clock() - MAX_LIFE) {
        break;
      }
      map.delete(old);
    }
  };
  return {
    endSession: (sid) => add(sessions, sid),
    endUser: (sub, moment) => add(users, sub, moment),
    endTokenId: (jti) => add(ids, jti),
    endToken: (token) => add(tokens, hashToken(token)),
    end: ({ sessionId, userId, tokenHash, at }) => {
      if (tokenHash !== undefined) {
        add(tokens, tokenHash, at);
      }
      if (sessionId !== undefined) {
        add(sessions, sessionId, at);
      }
      if (userId !== undefined) {
        // Tokens of other issuers may say nothing of their session; who is still logged in renews them.
        const ofUser = sessionId === undefined ? users : unnamed;
        add(ofUser, userId, Math.max(at, ofUser.get(userId) ?? 0));
      }
    },
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
      return tokens.size > 0 && tokens.has(hashToken(token));
    },
  };
}

export const hashToken = (token: string): string => hash("sha256", token);
