import { errors, jwtVerify } from "jose";
import { hash } from "node:crypto";

import { type AccessTokenClaims, audiencesOf, checkClaims } from "./claims.ts";
import { boundKeyOf } from "./dpop.ts";
import type { Issuer } from "./issuer.ts";
import { KEY_PAIR_ALGORITHMS } from "./key-pair-algorithms.ts";
import { type KeySet, createKeySet } from "./key-set.ts";
import { type ClaimNames, identityOf } from "./policy/identity-of.ts";
import type { Identity } from "./policy/types.ts";
import { TokenError } from "./token-error.ts";

/** A token longer than this is refused unread; what fits in a request's head is far shorter. */
const MAX_TOKEN = 16_384;

/** A token that was accepted. */
export interface VerifiedToken {
  readonly token: string;
  readonly claims: AccessTokenClaims;
  readonly identity: Identity;
}

export interface VerifyOptions {
  /** Accept tokens for one of these audiences, or issued to one of them (claim `azp`); any audience when left out. */
  readonly audiences?: readonly string[];
  /** Milliseconds past its end for which a token is still read, to find out whose it was. */
  readonly acceptExpiredFor?: number;
  /**
   * Thumbprint of the key whose possession the sender has shown (RFC 9449): a token that is bound to a key is good with that one only,
   * and without one not at all.
   */
  readonly boundTo?: string | undefined;
}

export interface TokenVerifier {
  /**
   * Verifies an access token: signature with a published key, algorithm, issuer, `exp`, `nbf`, kind, audience.
   * @throws {TokenError} the token must not be accepted
   * @throws {IssuerUnavailableError} nobody can say now
   */
  readonly verify: (token: string, options?: VerifyOptions) => Promise<VerifiedToken>;
  /** The same without waiting, for a token verified before and still valid; `undefined` otherwise. */
  readonly recall: (token: string, options?: VerifyOptions) => VerifiedToken | undefined;
  readonly keys: KeySet;
  /** Whether ID tokens count, and so the header that they come in. */
  readonly acceptsIdTokens: boolean;
  /** Forgets every verified token. */
  readonly forget: () => void;
}

export interface VerifierOptions {
  readonly issuer: Issuer;
  /** Seconds that clocks may differ. */
  readonly tolerance?: number;
  readonly claimNames?: ClaimNames;
  /** Verified tokens that are remembered. */
  readonly capacity?: number;
  /** Milliseconds that a verification is remembered at most; never past the token's end. */
  readonly remember?: number;
  readonly keys?: KeySet;
  readonly clock?: () => number;
}

interface Remembered {
  readonly verified: VerifiedToken;
  readonly until: number;
  readonly generation: number;
}

/** Makes a verifier for the access tokens of one issuer. */
export function createTokenVerifier({
  issuer,
  tolerance = 5,
  claimNames = {},
  capacity = 10_000,
  remember = 60_000,
  clock = Date.now,
  keys = createKeySet({ issuer, clock }),
}: VerifierOptions): TokenVerifier {
  /** By hash: a dump of the memory of a long-lived process should not be a list of tokens. Insertion order is age. */
  const remembered = new Map<string, Remembered>();

  const recall: TokenVerifier["recall"] = (token, options = {}) => {
    const key = hash("sha256", token, "base64url");
    const entry = remembered.get(key);
    if (entry === undefined) {
      return undefined;
    }
    if (entry.until <= clock() || entry.generation !== keys.generation()) {
      remembered.delete(key);
      return undefined;
    }
    const { claims } = entry.verified;
    return isForAudience(claims, options.audiences) && isOfHolder(claims, options) ? entry.verified : undefined;
  };

  const verify: TokenVerifier["verify"] = async (token, options = {}) => {
    const known = recall(token, options);
    if (known !== undefined) {
      return known;
    }
    if (token.length > MAX_TOKEN) {
      throw new TokenError("MALFORMED", `the token is longer than ${MAX_TOKEN} characters`);
    }
    const now = clock();
    const claims = await verifySignature(token, {
      keys,
      issuer: issuer.url,
      acceptIdTokens: issuer.acceptIdTokens,
      tolerance: tolerance + (options.acceptExpiredFor ?? 0) / 1000,
      now,
    });
    if (claims.nbf !== undefined && typeof claims.nbf === "number" && claims.nbf > now / 1000 + tolerance) {
      throw new TokenError("NOT_YET_VALID", "the token is not valid yet");
    }
    if (!isForAudience(claims, options.audiences)) {
      throw new TokenError("AUDIENCE", "the token is not meant for this service");
    }
    if (!isOfHolder(claims, options)) {
      throw new TokenError("BINDING", "the token is bound to a key that its sender has not shown to hold");
    }
    const verified = { token, claims, identity: identityOf(claims, claimNames) };
    const until = Math.min(now + remember, (claims.exp + tolerance) * 1000);
    if (until > now) {
      remembered.set(hash("sha256", token, "base64url"), { verified, until, generation: keys.generation() });
      if (remembered.size > capacity) {
        // The oldest tenth at once, so that a full memory costs little per token.
        dropOldest(remembered, Math.ceil(capacity / 10));
      }
    }
    return verified;
  };

  return { verify, recall, keys, acceptsIdTokens: issuer.acceptIdTokens, forget: () => remembered.clear() };
}

interface SignatureOptions {
  readonly keys: KeySet;
  readonly issuer: string;
  readonly acceptIdTokens: boolean;
  readonly tolerance: number;
  readonly now: number;
}

async function verifySignature(
  token: string,
  { keys, issuer, acceptIdTokens, tolerance, now }: SignatureOptions,
): Promise<AccessTokenClaims> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys.getKey, {
      algorithms: [...KEY_PAIR_ALGORITHMS],
      issuer,
      clockTolerance: tolerance,
      currentDate: new Date(now),
      requiredClaims: ["exp", "sub"],
    });
    return checkClaims(payload, protectedHeader.typ, { acceptIdTokens });
  } catch (error) {
    throw toTokenError(error);
  }
}

function toTokenError(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) {
    return new TokenError("EXPIRED", "the token has expired", error);
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    const code = error.claim === "iss" ? "ISSUER" : error.claim === "nbf" ? "NOT_YET_VALID" : "MALFORMED";
    return new TokenError(code, `the token's claim ${error.claim} is not acceptable`, error);
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new TokenError("ALGORITHM", "the token is signed with an algorithm that is not allowed", error);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new TokenError("SIGNATURE", "the token's signature is wrong", error);
  }
  // Whatever else jose finds wrong in a token is the token's fault; anything else is ours.
  return error instanceof errors.JOSEError ? new TokenError("MALFORMED", "the text is not a token", error) : error;
}

function isForAudience(claims: AccessTokenClaims, audiences: readonly string[] | undefined): boolean {
  return (
    audiences === undefined ||
    audiencesOf(claims).some((audience) => audiences.includes(audience)) ||
    // Issuers leave the client itself out of the audience of its tokens.
    (claims.azp !== undefined && audiences.includes(claims.azp))
  );
}

function isOfHolder(claims: AccessTokenClaims, { boundTo, acceptExpiredFor }: VerifyOptions): boolean {
  const requested = boundKeyOf(claims);
  // Reading whose an ended token was lets nobody in.
  return requested === undefined || acceptExpiredFor !== undefined || (requested !== "" && requested === boundTo);
}

function dropOldest(map: Map<string, unknown>, count: number): void {
  for (const key of map.keys().take(count)) {
    map.delete(key);
  }
}
