import { TokenError } from "./token-error.ts";

/** Claims of a verified access token that services use; others are there too. */
export interface AccessTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly exp: number;
  readonly iat?: number;
  readonly aud?: string | readonly string[];
  /** Client the token was issued to. */
  readonly azp?: string;
  readonly preferred_username?: string;
  readonly email?: string;
  readonly name?: string;
  /** Scopes, separated by spaces. */
  readonly scope?: string;
  /** Session. */
  readonly sid?: string;
  readonly jti?: string;
  readonly [claim: string]: unknown;
}

const OPTIONAL_TEXTS = ["azp", "preferred_username", "email", "name", "scope", "sid", "jti"] as const;

/**
 * Audience of tokens that go to every service of the deployment. A mapper of the identity service adds it for the clients that people
 * and scripts log in with, and an operator may take it away.
 */
export const PLATFORM_AUDIENCE = "swath-platform";

/** Kinds of tokens (claim `typ` of the platform's provider) that are signed with the same keys and are no access tokens. */
const OTHER_KINDS = ["ID", "Refresh", "Offline", "Logout", "Serialized-ID"];

/** Header `typ` of access tokens: RFC 9068 §2.1, RFC 7519 §5.1, or none. */
const HEADER_TYPES = [undefined, "jwt", "at+jwt", "application/at+jwt", "application/jwt"];

/**
 * Checks the shape of a payload and that it is an access token, or an ID token where those are accepted.
 * @throws {TokenError}
 */
export function checkClaims(
  payload: Readonly<Record<string, unknown>>,
  headerType?: string,
  { acceptIdTokens = false }: { readonly acceptIdTokens?: boolean } = {},
): AccessTokenClaims {
  if (!HEADER_TYPES.includes(headerType?.toLowerCase())) {
    throw new TokenError("KIND", `a token with the header type ${JSON.stringify(headerType)} is no access token`);
  }
  const kind = payload["typ"];
  if (typeof kind === "string" && OTHER_KINDS.includes(kind) && !(acceptIdTokens && kind === "ID")) {
    throw new TokenError("KIND", `the token is of the kind ${JSON.stringify(kind)}, not an access token`);
  }
  if (typeof payload["sub"] !== "string" || payload["sub"] === "") {
    throw new TokenError("MALFORMED", "the token has no subject");
  }
  for (const claim of OPTIONAL_TEXTS) {
    if (payload[claim] !== undefined && typeof payload[claim] !== "string") {
      throw new TokenError("MALFORMED", `the token's claim ${claim} is not a text`);
    }
  }
  return payload as unknown as AccessTokenClaims;
}

/** The audiences of a token as a list. */
export function audiencesOf({ aud }: AccessTokenClaims): readonly string[] {
  return aud === undefined ? [] : typeof aud === "string" ? [aud] : aud;
}

/** A list of audiences as settings write it: separated by commas. */
export function readAudiences(text: string): readonly string[] {
  return text
    .split(",")
    .map((audience) => audience.trim())
    .filter((audience) => audience !== "");
}
