import { HeadObjectCommand } from "@aws-sdk/client-s3";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Readable } from "node:stream";

import { toEndpoint } from "../execution/storage.ts";
import { rewriteDocumentLinks } from "../results/rewrite-links.ts";
import { createObjectRequests } from "../staging/object-requests.ts";
import { mediaTypeOf } from "../staging/out/media-type.ts";
import { CONNECTION, type Place, refuse, withClient } from "./result-files.ts";

/** Larger ones are sent as they are. */
const MAX_DOCUMENT = 4 * 2 ** 20;

/** Results are strangers' files: a browser must never run them as a page of the platform. */
const PROTECTED = {
  "content-security-policy": "sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'",
  "x-content-type-options": "nosniff",
  "cache-control": "private, no-cache",
};

/**
 * Sends a STAC document of the results with links that can be followed here, whole always.
 * @returns undefined for a file that is none, of which nothing was sent
 * @throws {OgcError} 404, 502
 */
export async function sendDocument(
  { storage, bucket, prefix }: Place,
  key: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if (!/\.(?:geo)?json$/i.test(key)) {
    return undefined;
  }
  const requests = createObjectRequests(toEndpoint(storage, bucket), CONNECTION);
  try {
    const response = await requests.send({ method: "GET", bucket, key, signal: AbortSignal.timeout(60_000) });
    if (Number(response.header("content-length")) > MAX_DOCUMENT) {
      response.body.destroy();
      return undefined;
    }
    const text = Buffer.concat((await response.body.toArray()) as Buffer[]).toString();
    const document = rewriteDocumentLinks(text, `s3://${bucket}/${prefix}`, key.slice(prefix.length));
    if (document === undefined) {
      return undefined;
    }
    // Of what is sent, which is another than what is stored.
    const etag = `"${(response.header("etag") ?? "").replaceAll('"', "")}-links"`;
    void reply.headers({ ...PROTECTED, etag }).headers(download(request, key));
    if (conditionsOf(request)["if-none-match"] === etag) {
      return await reply.code(304).send();
    }
    return await reply
      .header("content-length", Buffer.byteLength(document))
      .type(response.header("content-type") ?? mediaTypeOf(key))
      .send(document);
  } catch (error) {
    return refuse(error, key);
  } finally {
    await requests.close();
  }
}

/** Sends a file of the results as it is stored, or the part that `Range` names. @throws {OgcError} 404, 416, 502 */
export async function sendFile(
  place: Place,
  key: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const requests = createObjectRequests(toEndpoint(place.storage, place.bucket), CONNECTION);
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  let body: Readable | undefined;
  try {
    const response = await requests.send({
      method: "GET",
      bucket: place.bucket,
      key,
      headers: conditionsOf(request),
      signal: gone.signal,
    });
    body = response.body;
    body.once("close", () => void requests.close());
    for (const name of ["content-length", "content-range", "etag", "last-modified"]) {
      const value = response.header(name);
      if (value !== undefined) {
        void reply.header(name, value);
      }
    }
    void reply.headers(download(request, key));
    return await reply
      .code(response.header("content-range") === undefined ? 200 : 206)
      .headers({ ...PROTECTED, "accept-ranges": "bytes" })
      .type(response.header("content-type") ?? mediaTypeOf(key))
      .send(body);
  } catch (error) {
    if (body === undefined) {
      await requests.close();
    }
    if ((error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 304) {
      return reply.code(304).send();
    }
    return refuse(error, key);
  }
}

/** What there is to say of a file, without its bytes. @throws {OgcError} 404, 502 */
export async function sendHead(place: Place, key: string, reply: FastifyReply): Promise<FastifyReply> {
  const head = await withClient(place, (client) =>
    client.send(new HeadObjectCommand({ Bucket: place.bucket, Key: key })),
  ).catch((error: unknown) => refuse(error, key));
  return (
    reply
      .headers({ ...PROTECTED, "accept-ranges": "bytes", "content-length": head.ContentLength ?? 0, etag: head.ETag })
      .type(head.ContentType ?? mediaTypeOf(key))
      // Not nothing, whose length the framework would tell in place of the file's.
      .send(Readable.from([]))
  );
}

/** `Range` and `If-None-Match` are of reading: the answer of an execution is whole (RFC 9110, 13.1.2 and 14.2). */
function conditionsOf({ method, headers }: FastifyRequest): Record<string, string> {
  if (method !== "GET" && method !== "HEAD") {
    return {};
  }
  const { range, "if-none-match": known } = headers;
  return { ...(range !== undefined && { range }), ...(known !== undefined && { "if-none-match": known }) };
}

function download(request: FastifyRequest, key: string): Record<string, string> {
  const { download: isWanted } = request.query as { download?: string };
  const name = key.slice(key.lastIndexOf("/") + 1);
  return isWanted === undefined
    ? {}
    : { "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}` };
}
