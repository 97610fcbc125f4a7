import type { Readable } from "node:stream";

/**
 * Gives the memory of a received chunk back at once; nobody may look at the chunk any more. Each chunk is memory of its own, and
 * left to the garbage collector a large file is tens of megabytes of it, for which the collector marks the whole heap again and
 * again: that takes as long as a digest.
 */
export function detachChunk({ buffer, byteLength }: Buffer): void {
  // Not what is cut from a larger piece, where others may have theirs.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) {
    buffer.transfer(0);
  }
}

interface TakeOptions {
  /** Whether a chunk is freed once it is taken. */
  readonly detachAfterUse?: boolean;
  /** What is thrown when the stream ends before its end without saying why. */
  readonly cutShort: () => Error;
}

/**
 * Gives every chunk of a stream to `take`, which makes the sender wait as long as a promise that it gives. Without an iterator,
 * which costs more than copying the chunk. When `take` throws, the rest is read and dropped, so that a sender comes to see the
 * answer; destroy the stream where nobody waits for one.
 */
export function consumeChunks(
  stream: Readable,
  take: (chunk: Buffer) => undefined | Promise<void>,
  { detachAfterUse = false, cutShort }: TakeOptions,
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
        release(chunk);
      } else {
        stream.pause();
        taking
          .then(() => {
            release(chunk);
            stream.resume();
          })
          .catch(refuse);
      }
    };
    const release = (chunk: Buffer) => {
      taking = undefined;
      if (detachAfterUse) {
        detachChunk(chunk);
      }
    };
    const refuse = (error: unknown) => {
      stream.off("data", onData);
      stream.resume();
      reject(error);
    };
    if (stream.destroyed) {
      // It tells of its end once, and has: the sender went away before anybody listened.
      reject(stream.errored ?? cutShort());
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
        reject(cutShort());
      }
    });
  });
}
