import { Agent, type Response, fetch } from "undici";

import type { ClusterAccount } from "./account.ts";
import { readLines } from "./read-lines.ts";

/** The API server's refusal. Failures to reach it are errors of other kinds. */
export class ClusterApiError extends Error {
  override readonly name = "ClusterApiError";
  readonly status: number;
  /** The server's own word: `AlreadyExists`, `Forbidden`, `Invalid`. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: T;
}

export type Query = Readonly<Record<string, string>>;

/**
 * The API of the cluster that a program runs in, over paths such as `/api/v1/namespaces/zoo/pods`. Objects go in and come out
 * as JSON. Every request but streams ends within 15 seconds.
 */
export interface ClusterApi {
  readonly namespace: string;
  /** `undefined` for what does not exist. */
  readonly get: <T>(path: string, query?: Query) => Promise<T | undefined>;
  readonly create: <T>(path: string, object: object) => Promise<T>;
  /** Server-side apply: the fields of the object become what it says, others stay. */
  readonly apply: <T>(path: string, object: object, manager: string) => Promise<T>;
  /** False when it did not exist. */
  readonly remove: (path: string, options?: object) => Promise<boolean>;
  /** Changes of the objects of a list, until the server or the signal ends it; the caller looks again and watches on. */
  readonly watch: <T>(path: string, query: Query, signal: AbortSignal) => AsyncIterable<WatchEvent<T>>;
  /** Bytes as they come: a pod's log. */
  readonly stream: (path: string, query: Query, signal: AbortSignal) => AsyncIterable<Uint8Array>;
  readonly close: () => Promise<void>;
}

const REQUEST_TIMEOUT = 15_000;
/** The server ends a watch after this many seconds; a connection that died unnoticed is not waited for much longer. */
const WATCH_SECONDS = 240;

export function openClusterApi(account: ClusterAccount): ClusterApi {
  const agent = new Agent({
    connect: { ca: account.certificateAuthority },
    // A log that says nothing for hours is no fault; requests have deadlines of their own.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 4000,
  });

  const send = async (
    method: string,
    path: string,
    options: { query?: Query; body?: object; type?: string; signal: AbortSignal },
  ): Promise<Response> => {
    const { query, body, type = "application/json", signal } = options;
    const search = query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;
    const response = await fetch(`${account.server}${path}${search}`, {
      method,
      dispatcher: agent,
      signal,
      headers: {
        authorization: `Bearer ${account.token()}`,
        accept: "application/json, */*",
        ...(body !== undefined && { "content-type": type }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) {
      throw await toError(response, method, path);
    }
    return response;
  };
  const call = async <T>(method: string, path: string, options: Omit<Parameters<typeof send>[2], "signal"> = {}) => {
    const response = await send(method, path, { ...options, signal: AbortSignal.timeout(REQUEST_TIMEOUT) });
    return (await response.json()) as T;
  };

  return {
    namespace: account.namespace,
    get: async <T>(path: string, query?: Query) =>
      call<T>("GET", path, query === undefined ? {} : { query }).catch(ignoreMissing),
    create: (path, body) => call("POST", path, { body }),
    apply: (path, body, fieldManager) =>
      call("PATCH", path, { body, type: "application/apply-patch+yaml", query: { fieldManager, force: "true" } }),
    remove: async (path, body = {}) => (await call("DELETE", path, { body }).catch(ignoreMissing)) !== undefined,
    watch: async function* <T>(path: string, query: Query, signal: AbortSignal) {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout((WATCH_SECONDS + 30) * 1000)]);
      const response = await send("GET", path, {
        query: { ...query, watch: "true", timeoutSeconds: String(WATCH_SECONDS) },
        signal: deadline,
      });
      for await (const line of readLines(response.body ?? [])) {
        const event = JSON.parse(line) as WatchEvent<T> | { type: "ERROR"; object: { code: number; reason: string } };
        if (event.type === "ERROR") {
          throw new ClusterApiError(event.object.code, event.object.reason, `the watch of ${path} ended`);
        }
        yield event;
      }
    },
    stream: async function* (path, query, signal) {
      const response = await send("GET", path, { query, signal });
      for await (const piece of response.body ?? []) {
        yield piece as Uint8Array;
      }
    },
    close: () => agent.destroy(),
  };
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof ClusterApiError && error.status === 404) {
    return undefined;
  }
  throw error;
}

async function toError(response: Response, method: string, path: string): Promise<ClusterApiError> {
  const text = await response.text();
  let status: { readonly reason?: string; readonly message?: string } = {};
  try {
    status = JSON.parse(text) as typeof status;
  } catch {
    // Not the API server's own answer: something between us and it.
  }
  const detail = status.message ?? text.slice(0, 300);
  return new ClusterApiError(
    response.status,
    status.reason ?? "",
    `the Kubernetes API answers ${response.status} to ${method} ${path}: ${detail}`,
  );
}
