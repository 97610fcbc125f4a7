import { Readable } from "node:stream";

import { detachChunk, consumeChunks } from "@swath/service";

import { S3Error } from "../errors.ts";

type Take = (chunk: Buffer) => undefined | Promise<void>;

/** The chunks of a message, each to be used up before the next is asked for. */
export async function* detachableChunks(message: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of message) {
    yield chunk;
    detachChunk(chunk);
  }
}

/**
 * Gives every chunk of a body to `take`, as it comes or as it is decoded, and frees it then where `isLent`.
 * @throws {S3Error} IncompleteBody
 */
export async function consumeBody(chunks: AsyncIterable<Buffer>, detachAfterUse: boolean, take: Take): Promise<void> {
  if (chunks instanceof Readable) {
    return consumeChunks(chunks, take, { detachAfterUse, cutShort: () => new S3Error("IncompleteBody") });
  }
  for await (const chunk of chunks) {
    await take(chunk);
  }
}
