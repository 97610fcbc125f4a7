import {
  IssuerUnavailableError,
  TokenError,
  type TokenVerifier,
  type VerifiedToken,
  readDpopToken,
  readRequestTokens,
  type RequestCookies,
} from "@swath/auth";

import { Refusal } from "../errors.ts";
import type { PolicySource } from "../policies/policy-source.ts";
import { readOnlyValue } from "./cookies.ts";
import type { Refresher } from "./refresher.ts";
import { type ShownKeys, type ShownProof, checkIsBound } from "./shown-keys.ts";
import type { TokenCookies } from "./token-cookies.ts";

/** Who a request comes from. */
export type FoundToken =
  | { readonly kind: "none" }
  /** A token was sent and is not good. */
  | { readonly kind: "invalid"; readonly error: TokenError; readonly from: "header" | "cookie" }
  | {
      readonly kind: "verified";
      readonly verified: VerifiedToken;
      readonly from: "header" | "cookie";
      /** Thumbprint of the key that the sender has shown to hold, of a token that is bound to it. */
      readonly boundTo?: string;
      /** Set-Cookie values of a login that was just renewed. */
      readonly setCookies: readonly string[];
    };

export interface TokenFinderDeps {
  readonly verifier: TokenVerifier;
  readonly policies: PolicySource;
  readonly cookies: TokenCookies;
  readonly refresher: Refresher;
  readonly shownKeys: ShownKeys;
}

export interface TokenFinder {
  /** The answer when no one need be asked for it, else `undefined`. */
  readonly peek: (request: TokenRequest) => FoundToken | undefined;
  /** @throws {Refusal} ISSUER_UNAVAILABLE, AMBIGUOUS_COOKIES */
  readonly find: (request: TokenRequest) => Promise<FoundToken>;
}

export interface TokenRequest {
  readonly authorization: string | undefined;
  /** Header `X-User-Id`, which counts where ID tokens are accepted. */
  readonly userId?: string | readonly string[] | undefined;
  /** What shows that the sender holds the key of a token in `Authorization: DPoP`. */
  readonly proof?: ShownProof | undefined;
  readonly cookies: RequestCookies;
  readonly audiences: readonly string[] | undefined;
  /** Whether cookies may be marked Secure. */
  readonly secure: boolean;
}

/** How long after its end an access token still tells which client its refresh token belongs to. */
const READ_EXPIRED_FOR = 90 * 86_400_000;

/** Looks for a token: `Authorization: DPoP` with its proof, else `Bearer`, else `X-User-Id` where ID tokens are accepted, else the cookies, renewing the login they keep when its access token has ended. */
export function createTokenFinder({
  verifier,
  policies,
  cookies: tokenCookies,
  refresher,
  shownKeys,
}: TokenFinderDeps): TokenFinder {
  const readHeaders = ({ authorization, userId }: TokenRequest) =>
    readRequestTokens({ authorization, "x-user-id": userId }, verifier.acceptsIdTokens);
  const peek: TokenFinder["peek"] = (request) => {
    const { cookies, audiences } = request;
    if (readDpopToken(request.authorization) !== undefined) {
      // Each proof is to be looked at.
      return undefined;
    }
    const [bearer] = readHeaders(request);
    const token = bearer ?? readOnlyValue(cookies, tokenCookies.names.access);
    if (token === undefined) {
      return readOnlyValue(cookies, tokenCookies.names.refresh) === undefined ? { kind: "none" } : undefined;
    }
    const verified = verifier.recall(token, { ...(audiences !== undefined && { audiences }) });
    if (verified === undefined || policies.cachedTokenState(verified) !== "good") {
      return undefined;
    }
    return { kind: "verified", verified, from: bearer === undefined ? "cookie" : "header", setCookies: [] };
  };

  const check = async (
    token: string,
    audiences: readonly string[] | undefined,
    boundTo?: string,
  ): Promise<VerifiedToken | TokenError> => {
    try {
      const verified = await verifier.verify(token, { ...(audiences !== undefined && { audiences }), boundTo });
      return (await policies.isTokenActive(verified))
        ? verified
        : new TokenError("REVOKED", "the token's login has ended, or its user has changed");
    } catch (error) {
      if (error instanceof IssuerUnavailableError) {
        throw new Refusal("ISSUER_UNAVAILABLE", { cause: error });
      }
      if (error instanceof TokenError) {
        return error;
      }
      throw error;
    }
  };

  const findBound = async (token: string, { proof, audiences }: TokenRequest): Promise<FoundToken> => {
    try {
      const boundTo = await shownKeys.check(token, proof);
      const result = await check(token, audiences, boundTo);
      if (result instanceof TokenError) {
        throw result;
      }
      checkIsBound(result.claims);
      return { kind: "verified", verified: result, from: "header", boundTo, setCookies: [] };
    } catch (error) {
      if (error instanceof TokenError) {
        return { kind: "invalid", error, from: "header" };
      }
      throw error;
    }
  };

  const clientOf = async (token: string): Promise<string | undefined> => {
    const expired = await verifier.verify(token, { acceptExpiredFor: READ_EXPIRED_FOR }).catch(() => undefined);
    return expired?.identity.clientId;
  };

  return {
    peek,
    find: async (request) => {
      const known = peek(request);
      if (known !== undefined) {
        return known;
      }
      const { cookies, audiences, secure } = request;
      const bound = readDpopToken(request.authorization);
      if (bound !== undefined) {
        return findBound(bound, request);
      }
      const failures: TokenError[] = [];
      for (const bearer of readHeaders(request)) {
        const result = await check(bearer, audiences);
        if (!(result instanceof TokenError)) {
          return { kind: "verified", verified: result, from: "header", setCookies: [] };
        }
        failures.push(result);
      }
      const [failure] = failures;
      if (failure !== undefined) {
        return { kind: "invalid", error: failure, from: "header" };
      }
      const access = readOnlyValue(cookies, tokenCookies.names.access);
      const result = access === undefined ? undefined : await check(access, audiences);
      if (result !== undefined && !(result instanceof TokenError)) {
        return { kind: "verified", verified: result, from: "cookie", setCookies: [] };
      }
      // The login of another client: renewing it would spend its refresh token on nothing.
      if (result !== undefined && result.code === "AUDIENCE") {
        return { kind: "invalid", error: result, from: "cookie" };
      }
      const value = readOnlyValue(cookies, tokenCookies.names.refresh);
      const found = value === undefined ? undefined : tokenCookies.readRefreshToken(value);
      const tokens =
        found === undefined
          ? undefined
          : await refresher.refresh(found, access === undefined ? undefined : await clientOf(access));
      const renewed = tokens === undefined ? undefined : await check(tokens.accessToken, audiences);
      if (tokens !== undefined && renewed !== undefined && !(renewed instanceof TokenError)) {
        return { kind: "verified", verified: renewed, from: "cookie", setCookies: tokenCookies.keep(tokens, secure) };
      }
      const error = renewed ?? result;
      return error === undefined ? { kind: "none" } : { kind: "invalid", error: error as TokenError, from: "cookie" };
    },
  };
}
