import { buffer } from "node:stream/consumers";

import { createLoginEnded, forward } from "./forward.ts";
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

/**
 * Asks a service in a user's name; gives the body of 200 alone, the caller explains other statuses.
 * @throws {Problem} 401 when the service refuses the user's token
 */
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
  if (status === 401) {
    throw createLoginEnded();
  }
  return status === 200 ? { status, body: JSON.parse(bytes.toString("utf8")) as T } : { status, body: undefined };
}
