const NETWORK = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "EAI_AGAIN",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/**
 * SQLSTATE classes: connection exception, insufficient resources, operator intervention (shut down, starting up), system error. A
 * protocol violation (08P01) is none: it is a statement of ours that is wrong, and will be wrong again.
 */
const DATABASE = /^(?:08(?!P01)|53|57P|58)/;
/** PostgreSQL's `lock_not_available`: another transaction held rows for longer than `lock_timeout`. */
const LOCK_NOT_AVAILABLE = "55P03";
/** What `pg` says without a code. */
const CONNECTION_LOST = /Connection terminated|timeout exceeded when trying to connect|not queryable/;

/** What `fetch` says: before a response, and in the middle of its body. */
const FETCH_FAILED = new Set(["fetch failed", "terminated"]);

interface Failure {
  readonly code?: unknown;
  readonly syscall?: string;
  readonly message?: string;
  readonly cause?: unknown;
}

/** Whether a statement gave up as another request, or a load, held what it changes. */
export const isHeldByOthers = (error: unknown): boolean => (error as Failure | undefined)?.code === LOCK_NOT_AVAILABLE;

/**
 * Whether an error says that a database or another service cannot be reached now, or is busy with the same rows, and not that what was
 * asked of it is wrong. The same request is good again later.
 */
export function isUnavailable(error: unknown): boolean {
  const { code, syscall, message = "", cause } = (error ?? {}) as Failure;
  if (typeof code === "string") {
    return (
      NETWORK.has(code) ||
      DATABASE.test(code) ||
      code === LOCK_NOT_AVAILABLE ||
      (code === "ENOENT" && syscall === "connect")
    );
  }
  return FETCH_FAILED.has(message) ? isUnavailable(cause) : CONNECTION_LOST.test(message);
}
