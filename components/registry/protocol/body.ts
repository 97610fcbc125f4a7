import type { IncomingMessage } from "node:http";

import { consumeChunks } from "@swath/service";

import { RegistryError } from "../errors.ts";

/** A whole body in memory. @throws {RegistryError} SIZE_INVALID with 413 when it is longer than `limit` bytes */
export async function readBody(message: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () =>
    new RegistryError("SIZE_INVALID", `The body must not be longer than ${limit} bytes.`, { status: 413 });
  if (Number(message.headers["content-length"] ?? 0) > limit) {
    throw tooLarge();
  }
  const chunks: Buffer[] = [];
  let length = 0;
  await consumeChunks(
    message,
    (chunk) => {
      length += chunk.length;
      if (length > limit) {
        throw tooLarge();
      }
      chunks.push(chunk);
      return undefined;
    },
    { cutShort: () => new RegistryError("SIZE_INVALID", "The body ended early.") },
  );
  return Buffer.concat(chunks, length);
}
