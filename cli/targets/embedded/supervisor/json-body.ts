import type { IncomingMessage } from "node:http";

/** A plan of every component has some hundred kilobytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The whole body of a message, parsed. @throws {RangeError} once it has more than 16 MiB */
export async function readJsonBody(message: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) {
      throw new RangeError(`The body has more than ${MAX_BYTES} bytes.`);
    }
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}
