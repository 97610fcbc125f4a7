import { Readable } from "node:stream";

import { S3Error } from "../errors.ts";

/**
 * Gives the memory of a received chunk back at once; nobody may look at the chunk any more. Each chunk is memory of its own, and
 * left to the garbage collector a large upload is tens of megabytes of it, for which the collector marks the whole heap again and
 * again: that took as long as the digest.
 */
function freeChunk({ buffer, byteLength }: Buffer): void {
  // Not what is cut from a larger piece, where others may have theirs.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) {
    buffer.transfer(0);
  }
}

/** The chunks of a message, each to be used up before the next is asked for. */
export async function* lendChunks(message: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of message) {
    yield chunk;
    freeChunk(chunk);
  }
}

/**
 * Gives every chunk of a stream to `take`, which makes the sender wait as long as a promise that it gives, and frees it then where
 * `isLent`. Without an iterator, which costs more than copying the chunk. When `take` throws, the rest is read and dropped, so that
 * the sender comes to see the answer.
 */
export function takeChunks(
  chunks: AsyncIterable<Buffer>,
  isLent: boolean,
  take: (chunk: Buffer) => undefined | Promise<void>,
): Promise<void> {
  return chunks instanceof Readable ? takeFrom(chunks, isLent, take) : iterate(chunks, take);
}

async function iterate(
  chunks: AsyncIterable<Buffer>,
  take: (chunk: Buffer) => undefined | Promise<void>,
): Promise<void> {
  for await (const chunk of chunks) {
    await take(chunk);
  }
}

function takeFrom(
  stream: Readable,
  isLent: boolean,
  take: (chunk: Buffer) => undefined | Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let taking: Promise<void> | undefined;
    const onData = (chunk: Buffer) => {
      try {
        taking = take(chunk);
      } catch (error) {
        refuse(error);
        return;
      }
      if (taking === undefined) {
        giveBack(chunk);
      } else {
        stream.pause();
        taking
          .then(() => {
            giveBack(chunk);
            stream.resume();
          })
          .catch(refuse);
      }
    };
    const giveBack = (chunk: Buffer) => {
      taking = undefined;
      if (isLent) {
        freeChunk(chunk);
      }
    };
    const refuse = (error: unknown) => {
      stream.off("data", onData);
      stream.resume();
      reject(error);
    };
    if (stream.destroyed) {
      // It tells of its end once, and has: the sender went away before anybody listened.
      reject(stream.errored ?? new S3Error("IncompleteBody"));
      return;
    }
    stream.on("data", onData);
    // The end may come while the last chunk is still being taken.
    stream.once("end", () => {
      Promise.resolve(taking).then(resolve).catch(reject);
    });
    stream.once("error", reject);
    // After the end this changes nothing.
    stream.once("close", () => {
      if (!stream.readableEnded) {
        reject(new S3Error("IncompleteBody"));
      }
    });
  });
}
