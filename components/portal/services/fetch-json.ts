import { buffer } from "node:stream/consumers";

import { forward } from "./forward.ts";
import type { Service } from "./registry.ts";

interface FetchJsonOptions {
  readonly service: Service;
  /** With its query. */
  readonly path: string;
  readonly token: string;
  /** Address of the browser. */
  readonly clientAddress: string;
}

const TIMEOUT_MS = 10_000;

/** Asks a service in a user's name; gives the body of 200 alone, the others' status is the caller's to explain. */
export async function fetchJson<T>(
  options: FetchJsonOptions,
): Promise<{ readonly status: 200; readonly body: T } | { readonly status: number; readonly body: undefined }> {
  const { status, body } = await forward({
    ...options,
    method: "GET",
    headers: { accept: "application/json" },
    body: null,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const bytes = await buffer(body);
  return status === 200 ? { status, body: JSON.parse(bytes.toString("utf8")) as T } : { status, body: undefined };
}
