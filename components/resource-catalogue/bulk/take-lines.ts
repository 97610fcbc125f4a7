import type { Readable } from "node:stream";

import { Problem } from "@swath/service";

import { problem } from "../http/errors.ts";

/**
 * Bytes of lines that are handed on together. The first batch is small, so that the database has something to write soon; each is larger than
 * the one before by no more than what is prepared while that one is written.
 */
const FIRST_BATCH_BYTES = 2 ** 17;
const BATCH_GROWTH = 1.5;
const MAX_BATCH_BYTES = 2 ** 20;
/** Bytes of one line at most. */
const MAX_LINE_BYTES = 16 * 2 ** 20;

export interface Lines {
  /** Whole lines, and nothing else in their buffer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Number of the first of them, from 1. */
  readonly firstLine: number;
}

/**
 * Takes a stream apart at line ends, into batches of whole lines.
 * @throws {Problem} 413 for a line that is too long, 408 when nothing comes for `idleMs` while bytes are waited for
 * @param begin what was read of the stream before
 */
export async function* takeLines(
  stream: Readable,
  { idleMs, begin }: { readonly idleMs: number; readonly begin: readonly Buffer[] },
): AsyncGenerator<Lines> {
  let chunks: Buffer[] = [];
  let size = 0;
  let firstLine = 1;
  let enough = FIRST_BATCH_BYTES;
  // Whoever stops in the middle still wants to send a reply on the same connection.
  for await (const chunk of joinChunks(begin, endWhenIdle(stream.iterator({ destroyOnReturn: false }), idleMs))) {
    chunks.push(chunk);
    size += chunk.length;
    if (size < enough || !chunk.includes(10)) {
      if (size > MAX_LINE_BYTES) {
        throw problem(413, "TooLarge", `A line has more than ${MAX_LINE_BYTES} bytes.`);
      }
      continue;
    }
    const end = chunk.lastIndexOf(10) + 1;
    const bytes = toOwnBytes([...chunks.slice(0, -1), chunk.subarray(0, end)], size - chunk.length + end);
    const lines = countLines(bytes);
    const rest = Buffer.from(chunk.subarray(end));
    chunks.forEach(release);
    chunks = [rest];
    size = rest.length;
    yield { bytes, firstLine };
    firstLine += lines;
    enough = Math.min(MAX_BATCH_BYTES, enough * BATCH_GROWTH);
  }
  if (size > 0) {
    yield { bytes: toOwnBytes(chunks, size), firstLine };
  }
}

async function* joinChunks(begin: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* begin;
  yield* rest;
}

/** Counts the time in which a chunk is waited for, not the time that the chunk before it takes. */
function endWhenIdle(chunks: AsyncIterator<Buffer>, idleMs: number): AsyncIterable<Buffer> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new Promise((resolve, reject) => {
          const timer = setTimeout(() => reject(idle(idleMs)), idleMs);
          chunks
            .next()
            .finally(() => clearTimeout(timer))
            .then(resolve, reject);
        }),
      return: () => chunks.return?.() ?? Promise.resolve({ done: true, value: undefined }),
    }),
  };
}

const idle = (idleMs: number): Problem =>
  new Problem(
    408,
    `Nothing came for ${idleMs / 1000} s, and nothing was loaded; send all lines again without a pause.`,
    {
      // Whatever the client still sends on this connection belongs to the load that has ended.
      headers: { connection: "close" },
    },
  );

/** In memory that nothing else is in, so that it can be handed to a thread rather than copied. */
function toOwnBytes(chunks: readonly Buffer[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let end = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, end);
    end += chunk.length;
  }
  return bytes;
}

/** Frees a chunk now. What it takes is outside of the garbage collector's heap, which would be marked as a whole to find it. */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) {
    buffer.transfer(0);
  }
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) {
    count += 1;
  }
  return count;
}
