import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { createAddressGuard } from "@swath/addresses";

import { RasterError, checkCancelled, toCancelled } from "../errors.ts";
import type { HttpLocation, Source } from "./source.ts";

/** Silence after which a request is given up. */
const IDLE_TIMEOUT_MS = 10_000;
const MAX_ATTEMPTS = 3;
const INITIAL_BACKOFF_MS = 100;
const MAX_REDIRECTS = 3;
/** A server without ranges is read whole up to this size. */
const MAX_UNRANGED_BYTES = 64 * 1024 * 1024;

const refusal = (): RasterError =>
  new RasterError("forbidden", "The address is not a public HTTP address; only those and configured hosts are read.");

const guard = createAddressGuard({ allowPrivate: [], refuse: refusal });

const agents = {
  http: new HttpAgent({ keepAlive: true, maxSockets: 16, timeout: 30_000 }),
  https: new HttpsAgent({ keepAlive: true, maxSockets: 16, timeout: 30_000 }),
};

/** Adds what a request needs beyond its range: credentials, signatures. */
export type PrepareRequest = (url: string, headers: Record<string, string>) => Promise<Record<string, string>>;

interface RangeResponse {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Uint8Array;
}

/**
 * An object behind HTTP ranges. Its size and version come with the first read, so that nothing is asked before it;
 * every later read insists on the same version.
 */
export function openHttpSource(
  location: HttpLocation,
  prepare: PrepareRequest = async (_url, headers) => headers,
  maxUnrangedBytes = MAX_UNRANGED_BYTES,
): Source {
  let size: number | undefined;
  let version: string | undefined;
  let whole: Uint8Array | undefined;

  const send = async (offset: number, length: number, signal: AbortSignal | undefined): Promise<RangeResponse> => {
    const range = {
      ...location.headers,
      range: `bytes=${offset}-${offset + length - 1}`,
      "accept-encoding": "identity",
    };
    for (let attempt = 1; ; attempt += 1) {
      checkCancelled(signal);
      try {
        const response = await sendRequest(
          { ...location, maxUnrangedBytes },
          await prepare(location.url, range),
          length,
          signal,
        );
        if (response.status < 500 && response.status !== 429) {
          return response;
        }
        if (attempt === MAX_ATTEMPTS) {
          throw new RasterError("unavailable", `The source answered with status ${response.status}.`);
        }
      } catch (error) {
        if (error instanceof RasterError || attempt === MAX_ATTEMPTS) {
          throw toSourceError(error, signal);
        }
      }
      await sleep(INITIAL_BACKOFF_MS * 2 ** (attempt - 1), undefined, signal && { signal }).catch(() => undefined);
    }
  };

  const accept = (response: RangeResponse, offset: number): Uint8Array => {
    const { status, headers, body } = response;
    if (status === 416) {
      size ??= parseTotal(headers["content-range"]);
      return new Uint8Array(0);
    }
    checkStatus(status);
    const seen = headers.etag ?? headers["last-modified"] ?? "";
    if (version !== undefined && version !== seen) {
      throw new RasterError("changed", "The source changed while it was read.");
    }
    version = seen;
    if (status === 200) {
      whole = body;
      size = body.length;
      return body.subarray(offset);
    }
    const total = parseTotal(headers["content-range"]);
    if (total === undefined || !headers["content-range"]?.startsWith(`bytes ${offset}-`)) {
      throw new RasterError("unavailable", "The source answered with another range than asked for.");
    }
    if (size !== undefined && size !== total) {
      throw new RasterError("changed", "The source changed while it was read.");
    }
    size = total;
    return body;
  };

  return {
    get key() {
      return `${location.url}#${version ?? ""}-${size ?? ""}`;
    },
    get size() {
      return size;
    },
    read: async (offset, length, signal) => {
      const requested = size === undefined ? length : Math.max(0, Math.min(length, size - offset));
      if (whole !== undefined) {
        return whole.subarray(offset, offset + requested);
      }
      if (requested <= 0) {
        return new Uint8Array(0);
      }
      const body = accept(await send(offset, requested, signal), offset);
      const complete = body.subarray(0, requested);
      if (size !== undefined && complete.length < Math.min(requested, size - offset)) {
        throw new RasterError("unavailable", "The source sent less than it announced.");
      }
      return complete;
    },
    isCurrent: async (signal) => {
      if (version === undefined) {
        return true;
      }
      const { status, headers } = await send(0, 1, signal);
      return (
        (status === 200 || status === 206) &&
        (headers.etag ?? headers["last-modified"] ?? "") === version &&
        (status === 200 || parseTotal(headers["content-range"]) === size)
      );
    },
    close: async () => {},
  };
}

function sendRequest(
  location: HttpLocation & { readonly maxUnrangedBytes: number },
  headers: Record<string, string>,
  length: number,
  signal: AbortSignal | undefined,
  url = new URL(location.url),
  redirects = 0,
): Promise<RangeResponse> {
  const isGuarded = location.socketPath === undefined && location.allowPrivate !== true;
  if (isGuarded) {
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw refusal();
    }
    guard.checkHost(url.hostname, url.origin);
  }
  const isSecure = url.protocol === "https:";
  const options: RequestOptions = {
    headers,
    timeout: IDLE_TIMEOUT_MS,
    ...(signal && { signal }),
    ...(isGuarded && { lookup: guard.lookup as LookupFunction }),
    ...(location.socketPath === undefined
      ? { agent: isSecure ? agents.https : agents.http }
      : { socketPath: location.socketPath }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = (isSecure ? httpsRequest : httpRequest)(url, options, (incoming) => {
      const target = incoming.headers.location;
      if ([301, 302, 307, 308].includes(incoming.statusCode ?? 0) && target !== undefined) {
        incoming.resume();
        if (redirects === MAX_REDIRECTS || location.socketPath !== undefined || !URL.canParse(target, url.href)) {
          reject(new RasterError("unavailable", "The source redirects too often or to no address."));
          return;
        }
        const next = new URL(target, url);
        // Credentials are for the host that they were given for.
        const { authorization: _, ...anonymous } = headers;
        sendRequest(
          location,
          next.origin === url.origin ? headers : anonymous,
          length,
          signal,
          next,
          redirects + 1,
        ).then(resolve, reject);
        return;
      }
      receiveBody(incoming, incoming.statusCode === 206 ? length : location.maxUnrangedBytes).then(
        (body) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }),
        reject,
      );
    });
    outgoing.on("timeout", () => outgoing.destroy(new RasterError("timeout", "The source did not answer in time.")));
    outgoing.on("error", reject);
    outgoing.end();
  });
}

async function receiveBody(incoming: IncomingMessage, limit: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) {
      incoming.destroy();
      throw new RasterError("unavailable", "The source sends more than asked for; it must support range requests.");
    }
    chunks.push(chunk);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
}

function checkStatus(status: number): void {
  if (status === 404 || status === 410) {
    throw new RasterError("not-found", "The source does not exist.");
  }
  if (status === 401 || status === 403) {
    throw new RasterError("forbidden", "The source may not be read.");
  }
  if (status !== 200 && status !== 206) {
    throw new RasterError("unavailable", `The source answered with status ${status}.`);
  }
}

function parseTotal(contentRange: string | undefined): number | undefined {
  const total = /\/(\d+)$/.exec(contentRange ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

function toSourceError(error: unknown, signal: AbortSignal | undefined): RasterError {
  return error instanceof RasterError
    ? error
    : signal?.aborted === true
      ? toCancelled(signal)
      : new RasterError("unavailable", "The source does not answer.", { cause: error });
}
