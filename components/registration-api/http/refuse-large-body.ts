import type { IncomingMessage } from "node:http";

import { Problem } from "@swath/service";

/** What is read of a body that is refused, so that its sender gets to the response instead of a broken connection. */
const MAX_DRAINED_BYTES = 64 * 2 ** 20;
const DRAIN_TIMEOUT_MS = 10_000;

/** The refusal of a body that is too large, once most senders read the response. */
export async function refuseLargeBody(request: IncomingMessage): Promise<Problem> {
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, DRAIN_TIMEOUT_MS);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_DRAINED_BYTES) {
        end();
      }
    });
    request.once("end", end).once("close", end).once("error", end).resume();
    if (request.complete || request.destroyed) {
      end();
    }
  });
  return new Problem(
    413,
    "The body is larger than a request may be (8 MiB for a document, 64 KiB for a harvester, 1 MiB else); put a document at an address or into a bucket, and register that: POST /register.",
  );
}
