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

/** The token of a request: `Authorization: Bearer`, else `X-User-Id` where ID tokens are accepted. */
export function readRequestToken(
  headers: {
    readonly authorization?: string | undefined;
    readonly [USER_ID_HEADER]?: string | readonly string[] | undefined;
  },
  acceptIdTokens: boolean,
): string | undefined {
  const value = acceptIdTokens ? headers[USER_ID_HEADER] : undefined;
  // An empty header is one that a proxy set for want of a token. Several, which Node.js joins by commas, are no token.
  return (
    readBearerToken(headers.authorization) ??
    (typeof value === "string" && value.trim() !== "" ? readBearerToken(`Bearer ${value.trim()}`) : undefined)
  );
}
