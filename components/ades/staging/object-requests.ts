import { hash } from "node:crypto";
import type { Readable } from "node:stream";
import { rootCertificates } from "node:tls";

import { createS3Signer, toObjectUrl } from "@swath/s3";
import { parsePeerUrl } from "@swath/service";
import { Agent } from "undici";

import type { S3Endpoint } from "./types.ts";

/** A request that carries an object's bytes, or asks for them. */
export interface ObjectRequest {
  readonly method: "GET" | "PUT";
  readonly bucket: string;
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Of the body, in hexadecimal, where it is known; the store checks it. */
  readonly sha256?: string;
  /** The signature says nothing of the body, for which a header has a checksum. */
  readonly isUnsigned?: boolean;
  readonly signal: AbortSignal;
}

export interface ObjectResponse {
  readonly header: (name: string) => string | undefined;
  /** Must be read to its end or destroyed. */
  readonly body: Readable;
}

/**
 * Sends the requests of which there are many. The SDK's client needs 4 ms of computing for each of them, which is more than all
 * the rest of staging a small file; this is the SDK's signer on a plain HTTP client.
 */
export interface ObjectRequests {
  /** @throws an error with `name`, `message` and `$metadata.httpStatusCode`, as the SDK's client does */
  readonly send: (request: ObjectRequest) => Promise<ObjectResponse>;
  readonly close: () => Promise<void>;
}

const MAX_ERROR = 64 * 1024;

export function createObjectRequests(
  target: S3Endpoint,
  { connections, stallSeconds }: { readonly connections: number; readonly stallSeconds: number },
): ObjectRequests {
  const { origin, prefix, socketPath } = parsePeerUrl(target.endpoint);
  const connect = {
    timeout: 20_000,
    ...(socketPath !== undefined && { socketPath }),
    ...(target.certificateAuthority !== undefined && { ca: [...rootCertificates, target.certificateAuthority] }),
  };
  const agent = new Agent({
    connect,
    connections,
    headersTimeout: stallSeconds * 1000,
    bodyTimeout: stallSeconds * 1000,
  });
  const signer = target.credentials && createS3Signer({ ...target.credentials, region: target.region });
  return {
    send: async ({ method, bucket, key, query = {}, headers = {}, body, sha256, isUnsigned = false, signal }) => {
      const url = toObjectUrl({ endpoint: `${origin}${prefix}`, bucket, key, query });
      const payload = isUnsigned ? {} : { bodySha256: sha256 ?? hash("sha256", body ?? "") };
      // Not by a URL object: it would take the dots out of keys such as a/../b.
      const response = await agent.request({
        origin,
        path: url.slice(origin.length),
        method,
        headers: signer === undefined ? headers : await signer.sign({ method, url, headers, ...payload }),
        signal,
        ...(body !== undefined && { body }),
      });
      const header = (name: string): string | undefined => {
        const value = response.headers[name];
        return Array.isArray(value) ? value[0] : value;
      };
      if (response.statusCode >= 300) {
        throw await toError(response.statusCode, response.body as unknown as Readable);
      }
      return { header, body: response.body as unknown as Readable };
    },
    close: () => agent.destroy(),
  };
}

async function toError(status: number, body: Readable): Promise<Error> {
  let text = "";
  for await (const chunk of body as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.length > MAX_ERROR) {
      break;
    }
  }
  const element = (name: string): string | undefined => new RegExp(`<${name}>([^<]{1,500})</${name}>`).exec(text)?.[1];
  const error = new Error(element("Message") ?? `status ${status}`);
  error.name = element("Code") ?? "UnknownError";
  return Object.assign(error, { $metadata: { httpStatusCode: status } });
}
