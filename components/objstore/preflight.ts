import type { IncomingMessage, ServerResponse } from "node:http";

import { S3Error } from "./errors.ts";
import type { Address } from "./protocol/address.ts";
import { parseCors, toConsoleRules, toCorsHeaders } from "./protocol/cors.ts";
import type { ObjectStore } from "./store/store.ts";

interface CorsContext {
  readonly store: Pick<ObjectStore, "buckets">;
  readonly consoleOrigin?: string | undefined;
}

function corsHeaders(
  context: CorsContext,
  address: Address,
  method: string,
  origin: string,
  headers: readonly string[],
) {
  const bucket = address.bucket === undefined ? undefined : context.store.buckets.find(address.bucket);
  const rules = [...toConsoleRules(context.consoleOrigin), ...(bucket?.cors ? parseCors(bucket.cors) : [])];
  return toCorsHeaders(rules, { origin, method, headers });
}

/** Adds what lets pages of other origins read the answer, where a bucket or the console says so. */
export function addCors(context: CorsContext, address: Address, message: IncomingMessage, head: string[]): void {
  const { origin } = message.headers;
  if (origin !== undefined) {
    const method = message.headers["access-control-request-method"] ?? message.method ?? "";
    head.push(...Object.entries(corsHeaders(context, address, method, origin, []) ?? {}).flat());
  }
}

/** Answers the question of a browser whether a page may send a request. @throws {S3Error} InvalidRequest, AccessDenied */
export function respondPreflight(
  context: CorsContext,
  address: Address,
  message: IncomingMessage,
  response: ServerResponse,
): void {
  const {
    origin,
    "access-control-request-method": method,
    "access-control-request-headers": requested,
  } = message.headers;
  if (origin === undefined || method === undefined) {
    throw new S3Error("InvalidRequest", "Insufficient information. Origin request header needed.");
  }
  const names = (requested ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  const headers = corsHeaders(context, address, method, origin, names);
  if (headers === undefined) {
    throw new S3Error("AccessDenied", "CORSResponse: This CORS request is not allowed.");
  }
  response.writeHead(200, { ...headers, "content-length": 0 }).end();
}
