import { errors, jwtVerify } from "jose";

import type { Issuer } from "./issuer.ts";
import { type KeySet, createKeySet } from "./key-set.ts";
import { KEY_PAIR_ALGORITHMS } from "./key-pair-algorithms.ts";
import { TokenError } from "./token-error.ts";

/** What has ended: one session, or without its id all sessions of a user. */
export type EndedLogin =
  | { readonly sessionId: string; readonly userId: string | undefined }
  | { readonly sessionId: undefined; readonly userId: string };

export interface LogoutTokenVerifier {
  /**
   * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0 §2.6) and ends what it names. It is good once; when ending fails,
   * the issuer may send it again.
   * @throws {TokenError} the token must not be accepted
   * @throws {IssuerUnavailableError} nobody can say now
   */
  readonly accept: (token: string, end: (ended: EndedLogin) => Promise<unknown>) => Promise<void>;
}

interface LogoutTokenOptions {
  readonly issuer: Issuer;
  /** The client that the issuer tells. */
  readonly clientId: string;
  readonly keys?: KeySet;
  readonly clock?: () => number;
}

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** Explicit typing is recommended only (§2.4): issuers that are older say `JWT` or nothing. */
const TYPES: readonly unknown[] = [undefined, "JWT", "logout+jwt", "application/logout+jwt"];
const MAX_AGE_SECONDS = 300;
const TOLERANCE_SECONDS = 5;
const MAX_CHARACTERS = 16_384;
const MAX_REMEMBERED = 10_000;

export function createLogoutTokenVerifier({
  issuer,
  clientId,
  clock = Date.now,
  keys = createKeySet({ issuer, clock }),
}: LogoutTokenOptions): LogoutTokenVerifier {
  /** Ids of tokens that were taken, and until when they could come again. */
  const taken = new Map<string, number>();

  const takeOnce = async (id: string, now: number, work: () => Promise<unknown>) => {
    for (const [old, until] of taken) {
      if (until > now && taken.size < MAX_REMEMBERED) {
        break;
      }
      taken.delete(old);
    }
    if (taken.has(id)) {
      throw new TokenError("MALFORMED", "the logout token was sent before");
    }
    taken.set(id, now + (MAX_AGE_SECONDS + TOLERANCE_SECONDS) * 1000);
    try {
      await work();
    } catch (error) {
      taken.delete(id);
      throw error;
    }
  };

  return {
    accept: async (token, end) => {
      if (token.length > MAX_CHARACTERS) {
        throw new TokenError("MALFORMED", `the token is longer than ${MAX_CHARACTERS} characters`);
      }
      const now = clock();
      const { payload, protectedHeader } = await jwtVerify(token, keys.getKey, {
        issuer: issuer.url,
        audience: clientId,
        algorithms: [...KEY_PAIR_ALGORITHMS],
        clockTolerance: TOLERANCE_SECONDS,
        maxTokenAge: MAX_AGE_SECONDS,
        currentDate: new Date(now),
      }).catch((error: unknown) => {
        throw error instanceof errors.JOSEError
          ? new TokenError("MALFORMED", `not a good logout token: ${error.message}`)
          : error;
      });
      const { sid, sub, jti, nonce, events } = payload;
      if (!TYPES.includes(protectedHeader.typ)) {
        throw new TokenError("MALFORMED", "the token is not a logout token");
      }
      if (!isObject(events) || !isObject(events[LOGOUT_EVENT])) {
        throw new TokenError("MALFORMED", "the token tells of no logout");
      }
      if (nonce !== undefined) {
        throw new TokenError("MALFORMED", "a logout token has no nonce");
      }
      if (typeof jti !== "string") {
        throw new TokenError("MALFORMED", "the logout token has no jti");
      }
      const userId = typeof sub === "string" && sub !== "" ? sub : undefined;
      const sessionId = typeof sid === "string" && sid !== "" ? sid : undefined;
      if (sessionId !== undefined) {
        await takeOnce(jti, now, () => end({ sessionId, userId }));
        return;
      }
      if (userId === undefined || sid !== undefined) {
        throw new TokenError("MALFORMED", "the logout token names neither a session nor a user");
      }
      await takeOnce(jti, now, () => end({ sessionId, userId }));
    },
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
