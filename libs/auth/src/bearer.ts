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
