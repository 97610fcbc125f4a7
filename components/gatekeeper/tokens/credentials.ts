/** A confidential client of the issuer. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly secret: string;
}

/** `client_secret_basic`: both parts form-encoded first (RFC 6749 §2.3.1). */
export function basicAuthorization({ clientId, secret }: ClientCredentials): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString("base64")}`;
}

function formEncode(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
