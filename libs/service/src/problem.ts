import { STATUS_CODES } from "node:http";

import { REFUSED_VALUE, isRefusedByDatabase } from "./hostile-text.ts";
import { isHeldByOthers, isUnavailable } from "./is-unavailable.ts";
import { maskCredentials, maskCredentialsIn } from "./mask-credentials.ts";

/** Problem details as they are sent (RFC 9457 §3.1). */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly instance?: string;
  readonly [extension: string]: unknown;
}

interface ProblemOptions {
  /** URI of the kind of problem; `about:blank` when left out. */
  readonly type?: string;
  readonly title?: string;
  /** Further members of the body, e.g. `errors`. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error that a client may see: what was wrong, where, what is allowed, what to do. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemBody;

  constructor(status: number, detail: string, { type, title, extensions, headers = {}, cause }: ProblemOptions = {}) {
    super(detail, { cause });
    this.status = status;
    this.headers = headers;
    this.body = {
      type: type ?? "about:blank",
      title: title ?? STATUS_CODES[status] ?? "Error",
      status,
      detail: maskCredentials(detail),
      ...(extensions && (maskCredentialsIn(extensions) as typeof extensions)),
    };
  }
}

/** What clients are told while something that a service needs is away. */
export const UNAVAILABLE_DETAIL = "Something that this service needs does not answer; try again in a moment.";

/** What clients are told while another request, such as a bulk load, holds the rows that theirs changes. */
export const HELD_DETAIL =
  "Another request that is under way holds what this one changes. Nothing was written; send this again when that has ended.";

/**
 * Any thrown value as a problem; what is not meant for clients becomes a 500 without its message, or a 503 where the service will be
 * able to answer as soon as another one is back.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) {
    return error;
  }
  if (isHeldByOthers(error)) {
    return new Problem(503, HELD_DETAIL, { headers: { "retry-after": "10" }, cause: error });
  }
  if (isUnavailable(error)) {
    return new Problem(503, UNAVAILABLE_DETAIL, { headers: { "retry-after": "1" }, cause: error });
  }
  if (isRefusedByDatabase(error)) {
    return new Problem(400, REFUSED_VALUE, { cause: error });
  }
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500
    ? new Problem(status, (error as Error).message, { cause: error })
    : new Problem(500, "The service failed to handle this request; its log has the cause under this request's id.", {
        cause: error,
      });
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && "statusCode" in error && typeof error.statusCode === "number"
    ? error.statusCode
    : undefined;
}
