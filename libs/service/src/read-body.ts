import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

import { consumeChunks } from "./consume-chunks.ts";

interface ReadOptions {
  readonly maxBytes: number;
  /** What is thrown for a body of more bytes, as soon as that is known. */
  readonly tooLarge: () => Error;
  /** What is thrown when the sender ends before the body does. */
  readonly cutShort?: () => Error;
}

/**
 * Reads a body whole, up to a limit. An error leaves the connection open, so that the response reaches the sender: `for await` would
 * destroy the stream, and with it the socket that the response needs.
 */
export async function readBody(stream: Readable, { maxBytes, tooLarge, cutShort }: ReadOptions): Promise<Buffer> {
  if (announcedBytes(stream) > maxBytes) {
    throw tooLarge();
  }
  const chunks: Buffer[] = [];
  let size = 0;
  await consumeChunks(
    stream,
    (chunk) => {
      size += chunk.length;
      if (size > maxBytes) {
        throw tooLarge();
      }
      chunks.push(chunk);
      return undefined;
    },
    { cutShort: cutShort ?? (() => Object.assign(new Error("the body was cut short"), { code: "ECONNRESET" })) },
  );
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
}

function announcedBytes(stream: Readable): number {
  const { headers } = stream as Partial<IncomingMessage>;
  return Number(headers?.["content-length"] ?? 0);
}

/** How long the rest of a refused body is read. */
const DRAIN_MS = 30_000;

/** Reads and drops the rest of a body, so that its sender comes to see the response; not for ever. */
export function drainBody(message: IncomingMessage, milliseconds = DRAIN_MS): void {
  if (message.complete || message.destroyed) {
    return;
  }
  const timer = setTimeout(() => message.destroy(), milliseconds);
  timer.unref();
  message.once("close", () => clearTimeout(timer));
  // The sender may go away at any time; nothing waits for the bytes.
  message.on("error", () => {});
  // A reader that gave up in the middle of an iteration has left its listener, with which nothing would flow.
  message.removeAllListeners("readable");
  // With a listener the bytes flow whatever state the last reader left the stream in.
  message.on("data", () => {});
  message.resume();
}
