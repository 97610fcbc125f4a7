/** Refused, cut off, not yet open for business; on a cluster also: sent to the address of a pod that is gone, or its Service is not made yet. */
const TRANSIENT_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "57P03",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "ENOTFOUND",
]);

/** Whether a connection failed for a reason that passes by itself. The pool's own timeout has no code. */
export function isTransient({ code, message }: NodeJS.ErrnoException): boolean {
  return code === undefined
    ? /connection timeout|timeout exceeded|timeout expired/i.test(message)
    : TRANSIENT_CODES.has(code);
}

/** A login that is not there: its role may be about to be made, or its password about to change. */
export const isLoginFailure = ({ code }: NodeJS.ErrnoException): boolean => code === "28P01" || code === "28000";
