import { Problem, noteActor } from "@swath/service";

import { type Administrators, isAdministrator } from "./administrators.ts";
import { type USER_ID_HEADER, readRequestTokens } from "./bearer.ts";
import { IssuerUnavailableError, TokenError } from "./token-error.ts";
import type { TokenVerifier, VerifiedToken } from "./verifier.ts";

/** Who asks. */
export interface Caller {
  readonly isAdmin: boolean;
  /** Left out for a request without a token, where that is allowed. */
  readonly user?: { readonly id: string; readonly username?: string };
  /** The verified token, to ask other services in the caller's name. */
  readonly token?: string;
  /** Why a token that came to an open host was not looked at: the caller is treated as one without. */
  readonly ignored?: string;
}

export interface CallerOptions {
  /** Left out where the deployment has no identity service. */
  readonly verifier?: TokenVerifier;
  /** The service's own client, and what else it takes tokens for. */
  readonly audiences: readonly string[];
  readonly administrators: Administrators;
  /** Requests without a token act for the administrator, everywhere … */
  readonly isOpen: boolean;
  /** … or on this host. */
  readonly openHost?: string;
  /** A request without a token is one of nobody, rather than refused: what is public is for everybody. */
  readonly allowsAnonymous?: boolean;
  /** What refusals name in `WWW-Authenticate`. */
  readonly realm: string;
}

/** Says in an answer that a token was ignored, and why. */
export const IGNORED_TOKEN_HEADER = "x-auth-ignored";

/** In which the gatekeeper says that it has seen a proof for the key that the token is bound to, and for which (RFC 9449). */
export const TOKEN_KEY_HEADER = "x-auth-token-key";

/** What of a request says who asks; a Fastify request is one. */
export interface AskingRequest {
  readonly headers: {
    readonly authorization?: string | undefined;
    readonly [USER_ID_HEADER]?: string | readonly string[] | undefined;
    readonly [TOKEN_KEY_HEADER]?: string | readonly string[] | undefined;
  };
  /** Host name without port. */
  readonly hostname: string;
}

/** Finds out who asks. @throws {Problem} 401 without a valid token where one is needed, 503 when nobody can say now */
export function createCallerOf(options: CallerOptions): (request: AskingRequest) => Promise<Caller> {
  const { verifier, audiences, administrators, isOpen, openHost, allowsAnonymous = false, realm } = options;
  return async (request) => {
    const tokens = readRequestTokens(request.headers, verifier?.acceptsIdTokens === true);
    const [token] = tokens;
    const needsNone = isOpen || (openHost !== undefined && request.hostname.toLowerCase() === openHost);
    // Where no token is needed, one that nobody can verify gives nothing and takes nothing away.
    if (needsNone && (token === undefined || verifier === undefined)) {
      return { isAdmin: true };
    }
    if (token === undefined && allowsAnonymous) {
      return { isAdmin: false };
    }
    if (token === undefined) {
      throw unauthorized(realm, "This request has no access token; send one as Authorization: Bearer <token>.");
    }
    if (verifier === undefined) {
      throw unauthorized(realm, "This deployment has no identity service that could verify a token.");
    }
    try {
      const shown = request.headers[TOKEN_KEY_HEADER];
      const boundTo = typeof shown === "string" ? shown : undefined;
      const { token: accepted, identity } = await verifyFirst(tokens, (each) =>
        verifier.verify(each, { audiences, boundTo }),
      );
      const { userId: id, username } = identity;
      const isAdmin = isAdministrator(identity, administrators);
      noteActor(request, { id, name: username, isAdmin });
      return {
        isAdmin,
        user: { id, ...(username !== undefined && { username }) },
        token: accepted,
      };
    } catch (error) {
      if (error instanceof TokenError && needsNone) {
        return { isAdmin: true, ignored: error.message };
      }
      if (error instanceof TokenError) {
        throw unauthorized(realm, `The access token is not accepted: ${error.message}.`, ', error="invalid_token"');
      }
      if (error instanceof IssuerUnavailableError) {
        throw new Problem(503, "The identity service does not answer; try again in a moment.", {
          cause: error,
          headers: { "retry-after": "2" },
        });
      }
      throw error;
    }
  };
}

/** The first token that is good. @throws what the first one fails with, when none is */
async function verifyFirst(
  tokens: readonly string[],
  verify: (token: string) => Promise<VerifiedToken>,
): Promise<VerifiedToken> {
  let failure: TokenError | undefined;
  for (const token of tokens) {
    try {
      return await verify(token);
    } catch (error) {
      if (!(error instanceof TokenError)) {
        throw error;
      }
      failure ??= error;
    }
  }
  throw failure ?? new Error("there is no token to verify");
}

function unauthorized(realm: string, detail: string, why = ""): Problem {
  return new Problem(401, detail, { headers: { "www-authenticate": `Bearer realm="${realm}"${why}` } });
}
