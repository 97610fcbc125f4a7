/** Error codes of IAM and STS with their status. */
const CODES = {
  AccessDenied: 403,
  DeleteConflict: 409,
  EntityAlreadyExists: 409,
  InvalidAction: 400,
  InvalidClientTokenId: 403,
  LimitExceeded: 409,
  MalformedPolicyDocument: 400,
  NoSuchEntity: 404,
  ValidationError: 400,
} as const;

/** An error as the query APIs of IAM and STS answer it. */
export class IamError extends Error {
  override readonly name = "IamError";
  readonly code: keyof typeof CODES;
  readonly status: number;

  constructor(code: keyof typeof CODES, message: string) {
    super(message);
    this.code = code;
    this.status = CODES[code];
  }
}
