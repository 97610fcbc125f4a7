import { StagingError } from "../staging/errors.ts";

/** Whether the object storage, or what leads to it, is away and may come back. */
export const isStorageAway = (error: unknown): boolean =>
  error instanceof StagingError ? error.code === "target" && error.temporary : isUnreachable(error);

/** Errors of clients about a service that took the connection and did not answer. */
const TIMEOUTS = [
  "TimeoutError",
  "RequestTimeout",
  "RequestTimeoutException",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** A connection that could not be made or stays silent, or an answer that says to come again. */
function isUnreachable(error: unknown): boolean {
  const { code, name, cause, $metadata, isTemporary } = error as {
    readonly code?: string;
    readonly name?: string;
    readonly isTemporary?: boolean;
    readonly cause?: unknown;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode;
  return (
    isTemporary === true ||
    TIMEOUTS.includes(code ?? "") ||
    TIMEOUTS.includes(name ?? "") ||
    [
      "ECONNREFUSED",
      "ECONNRESET",
      "ENOENT",
      "EPIPE",
      "ETIMEDOUT",
      "ECONNABORTED",
      "EHOSTUNREACH",
      "UND_ERR_SOCKET",
    ].includes(code ?? "") ||
    (status !== undefined && (status >= 500 || status === 429)) ||
    (cause !== undefined && cause !== null && isUnreachable(cause))
  );
}
