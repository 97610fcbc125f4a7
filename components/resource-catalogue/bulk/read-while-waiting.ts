import type { Readable } from "node:stream";

const INTERVAL_MS = 1000;

/**
 * Reads a body slowly, what is buffered once a second, until `stop` gives what was read. Node.js does not notice that a client has gone while
 * nothing of its connection is read. 64 KiB a second are 8 MiB in the time that a load waits at most.
 */
export function readWhileWaiting(body: Readable): { readonly stop: () => readonly Buffer[] } {
  const chunks: Buffer[] = [];
  const timer = setInterval(() => {
    const chunk = body.read() as Buffer | null;
    if (chunk !== null) {
      chunks.push(chunk);
    }
  }, INTERVAL_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return chunks;
    },
  };
}
