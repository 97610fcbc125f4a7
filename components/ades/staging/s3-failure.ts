import { StagingError, type StagingErrorCode } from "./errors.ts";

const KNOWN: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    NoSuchKey: "there is no such object",
    NotFound: "there is no such object or bucket",
    NoSuchBucket: "there is no such bucket",
    AccessDenied: "access is refused to the credentials in use",
    InvalidAccessKeyId: "the object store does not know the credentials in use",
    SignatureDoesNotMatch: "the object store refuses the credentials in use",
    ExpiredToken: "the credentials in use have expired",
    QuotaExceeded: "the bucket's quota is used up; delete old results or ask for more",
  }),
);

/** Answers about bytes that were changed or lost on their way: sent again, they may arrive. */
const DAMAGED = new Set(["BadDigest", "IncompleteBody", "RequestTimeout", "XAmzContentSHA256Mismatch"]);

/** What an object store's client threw, as an error that a user may read. */
export function toS3Failure(error: unknown, code: StagingErrorCode, where: string): StagingError {
  if (error instanceof StagingError) {
    return error;
  }
  const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  const known = KNOWN.get(name);
  const problem =
    known ??
    (status === undefined
      ? `the object store cannot be reached: ${message}`
      : `the object store answers ${status} ${name}: ${message}`);
  // Without a status nothing was understood as an answer: a broken connection, which may come back.
  const temporary =
    known === undefined &&
    (status === undefined || status >= 500 || status === 429 || status === 408 || DAMAGED.has(name));
  return new StagingError(code, where, problem, { temporary, cause: error });
}
