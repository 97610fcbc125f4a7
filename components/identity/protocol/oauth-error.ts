/** An error answer of OAuth 2.0 (RFC 6749 §5.2). The description is for people and never tells a secret. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, description: string, headers: Readonly<Record<string, string>> = {}) {
    super(description);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const invalidRequest = (description: string) => new OAuthError(400, "invalid_request", description);
/** Existing clients of the password and refresh grants expect 401 and 400. */
export const invalidGrant = (description: string, status = 400) => new OAuthError(status, "invalid_grant", description);
export const invalidClient = (headers?: Readonly<Record<string, string>>) =>
  new OAuthError(401, "invalid_client", "Invalid client or Invalid client credentials", headers);
