import type { IncomingMessage, ServerResponse } from "node:http";

import type { Logger } from "@swath/service";
import type { CallerPlaces, CallerRate } from "@swath/service/caller-limits";

import { type Caller, type CallerDeps, addressOf } from "../access/caller.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { PullCounter } from "../background/pull-counter.ts";
import type { RegistryDatabase } from "../store/database.ts";
import type { ManifestReader } from "../store/manifest-reader.ts";
import type { Cache } from "../upstreams/cache.ts";
import type { Uploads } from "../uploads/uploads.ts";

/** What operations work with. */
export interface RegistryDeps {
  readonly database: RegistryDatabase;
  readonly blobs: BlobStore;
  readonly access: CallerDeps;
  readonly uploads: Uploads;
  readonly manifests: ManifestReader;
  /** What projects lack that are caches of other registries. */
  readonly cache: Cache;
  readonly pulls: PullCounter;
  readonly redirects: boolean;
  /** Seconds that a push may take from its first blob to its manifest. */
  readonly pushSeconds: number;
  /** Uploads that a caller begins, and bodies of uploads that it sends at the same time. */
  readonly uploadStarts: CallerRate;
  readonly uploadPlaces: CallerPlaces;
  readonly logger: Logger;
}

/** One request to the distribution API. */
export interface OperationContext {
  readonly deps: RegistryDeps;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Method; HEAD and GET are told apart here. */
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly caller: Caller;
}

/** Whom limits count: who logged in, anybody else by address. */
export const limitedCaller = ({ caller, message }: OperationContext) => ({
  ...(!caller.isAnonymous && { user: caller.holder.subject }),
  address: addressOf(message),
});

/** Answers without a body. */
export function sendEmpty(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string | number>> = {},
): void {
  response.writeHead(status, { ...headers, ...(status !== 204 && { "content-length": 0 }) });
  response.end();
}

export function sendJson(
  response: ServerResponse,
  body: object,
  headers: Readonly<Record<string, string | number>> = {},
): void {
  const text = Buffer.from(JSON.stringify(body));
  response.writeHead(200, { "content-type": "application/json", "content-length": text.length, ...headers });
  response.end(response.req.method === "HEAD" ? undefined : text);
}
