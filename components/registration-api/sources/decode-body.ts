import { type Readable, pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { RegistrationError } from "../queue/errors.ts";

const DECODERS = new Map<string, () => ReturnType<typeof createGunzip | typeof createBrotliDecompress>>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** A body without its content coding (RFC 9110 §8.4), which static files in buckets have although nobody asked for it. */
export function decodeBody(body: Readable, encoding: string | string[] | undefined, where: string): Readable {
  const name = String(encoding ?? "")
    .trim()
    .toLowerCase();
  if (name === "" || name === "identity") {
    return body;
  }
  const decoder = DECODERS.get(name)?.();
  if (decoder === undefined) {
    body.on("error", () => {}).destroy();
    throw new RegistrationError(
      `${where.replace(/[?#].*$/s, "").slice(0, 300)} comes in the encoding "${name.slice(0, 50)}"; allowed: ${[...DECODERS.keys()].join(", ")}.`,
    );
  }
  // A failure ends the decoder, whose reader meets it.
  pipeline(body, decoder, () => {});
  return decoder;
}
