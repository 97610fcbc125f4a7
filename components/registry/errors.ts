/** Codes of the distribution specification, and their status where nothing else is said. */
const STATUS = {
  BLOB_UNKNOWN: 404,
  BLOB_UPLOAD_INVALID: 400,
  BLOB_UPLOAD_UNKNOWN: 404,
  DIGEST_INVALID: 400,
  MANIFEST_BLOB_UNKNOWN: 404,
  MANIFEST_INVALID: 400,
  MANIFEST_UNKNOWN: 404,
  NAME_INVALID: 400,
  NAME_UNKNOWN: 404,
  SIZE_INVALID: 400,
  UNAUTHORIZED: 401,
  DENIED: 403,
  UNSUPPORTED: 405,
  TOOMANYREQUESTS: 429,
  // Codes that registries use beside those of the specification.
  PAGINATION_NUMBER_INVALID: 400,
  TAG_INVALID: 400,
  RANGE_INVALID: 416,
  UNAVAILABLE: 503,
  UNKNOWN: 500,
} as const;

export type RegistryErrorCode = keyof typeof STATUS;

interface RegistryErrorOptions {
  readonly status?: number;
  readonly detail?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error as the distribution specification sends it. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  readonly code: RegistryErrorCode;
  readonly status: number;
  readonly detail: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RegistryErrorCode, message: string, options: RegistryErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? STATUS[code];
    this.detail = options.detail;
    this.headers = options.headers ?? {};
  }
}

/** The body of an error response. */
export function renderError({ code, message, detail }: RegistryError): string {
  return JSON.stringify({ errors: [{ code, message, ...(detail !== undefined && { detail }) }] });
}
