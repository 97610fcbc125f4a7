import { Readable } from "node:stream";

import { freeChunk, takeChunks } from "@swath/service";

import { S3Error } from "../errors.ts";

type Take = (chunk: Buffer) => undefined | Promise<void>;

/** The chunks of a message, each to be used up before the next is asked for. */
export async function* lendChunks(message: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of message) {
    yield chunk;
    freeChunk(chunk);
  }
}

/**
 * Gives every chunk of a body to `take`, as it comes or as it is decoded, and frees it then where `isLent`.
 * @throws {S3Error} IncompleteBody
 */
export async function takeBody(chunks: AsyncIterable<Buffer>, isLent: boolean, take: Take): Promise<void> {
  if (chunks instanceof Readable) {
    return takeChunks(chunks, take, { isLent, cutShort: () => new S3Error("IncompleteBody") });
  }
  for await (const chunk of chunks) {
    await take(chunk);
  }
}
