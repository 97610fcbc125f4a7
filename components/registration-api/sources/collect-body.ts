import type { Readable } from "node:stream";

import { RegistrationError } from "../queue/errors.ts";

/** Largest document that is read whole. */
const MAX_DOCUMENT_BYTES = 32 * 2 ** 20;

/** A body whole, up to a size. */
export async function collectBody(body: Readable, where: string, maxBytes = MAX_DOCUMENT_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new RegistrationError(
        `${where.replace(/[?#].*$/s, "").slice(0, 300)} has more than the ${maxBytes} bytes that are read of a document.`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
