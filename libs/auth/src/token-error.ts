/** Why a token was not accepted. Stable; for logs and tests, clients only learn that it is invalid. */
export type TokenErrorCode =
  | "MALFORMED"
  | "ALGORITHM"
  | "KEY_UNKNOWN"
  | "SIGNATURE"
  | "EXPIRED"
  | "NOT_YET_VALID"
  | "ISSUER"
  | "AUDIENCE"
  | "KIND"
  | "BINDING"
  | "REVOKED";

/** A token that must not be accepted (RFC 6750 §3.1 `invalid_token`). */
export class TokenError extends Error {
  override readonly name = "TokenError";
  readonly code: TokenErrorCode;

  constructor(code: TokenErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The issuer or its keys could not be read: nothing can be said about a token now (an HTTP 503). */
export class IssuerUnavailableError extends Error {
  override readonly name = "IssuerUnavailableError";
}
