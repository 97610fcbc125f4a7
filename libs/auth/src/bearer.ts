/**
 * The token of an `Authorization: Bearer` header (RFC 6750 §2.1). `undefined` without the header or with another scheme;
 * an empty text when the header says Bearer and no token that could be one follows.
 */
export function readBearerToken(authorization: string | undefined): string | undefined {
  const match = /^bearer(?: +(.*))?$/i.exec(authorization ?? "");
  if (match === null) {
    return undefined;
  }
  const token = match[1]?.trim() ?? "";
  return /^[A-Za-z0-9\-._~+/]+=*$/.test(token) ? token : "";
}

/** Header that clients of the login service (variant B) send an ID token in. */
export const USER_ID_HEADER = "x-user-id";

interface TokenHeaders {
  readonly authorization?: string | undefined;
  readonly [USER_ID_HEADER]?: string | readonly string[] | undefined;
}

/** The token of a request: `Authorization: Bearer`, else `X-User-Id` where ID tokens are accepted. */
export function readRequestToken(headers: TokenHeaders, acceptIdTokens: boolean): string | undefined {
  return readRequestTokens(headers, acceptIdTokens)[0];
}

/**
 * The tokens of a request in the order in which they are tried: `Authorization: Bearer`, then `X-User-Id` where ID tokens are accepted.
 * Clients of the login service send an old token with permissions in the one and the user's ID token in the other.
 */
export function readRequestTokens(headers: TokenHeaders, acceptIdTokens: boolean): readonly string[] {
  const value = acceptIdTokens ? headers[USER_ID_HEADER] : undefined;
  const bearer = readBearerToken(headers.authorization);
  // An empty header is one that a proxy set for want of a token. Several, which Node.js joins by commas, are no token.
  const userId =
    typeof value === "string" && value.trim() !== "" ? readBearerToken(`Bearer ${value.trim()}`) : undefined;
  return [bearer, userId].filter((token) => token !== undefined);
}
