import { Readable, pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { displayUrl } from "../display-url.ts";
import { StagingError } from "../errors.ts";
import { toUnreachable } from "./http-source.ts";
import { type OpenedSource, discard } from "./opened.ts";

/**
 * The bytes of the file, decompressed. Ends with an error when the source sends nothing for `stallSeconds`, breaks off, or
 * sends another number of bytes than it said.
 */
export async function* readBody(
  opened: OpenedSource,
  stallSeconds: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const where = displayUrl(opened.href);
  const { body } = opened;
  const pump = { raw: 0, isWaiting: false };
  const timer = setTimeout(() => {
    // While our own disk is the slow one, the source is not to blame.
    if (pump.isWaiting) {
      body.destroy(new StagingError("source", where, `sent nothing for ${stallSeconds} seconds`, { temporary: true }));
    }
  }, stallSeconds * 1000);
  const abort = () => body.destroy(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  const count = async function* (): AsyncGenerator<Buffer> {
    pump.isWaiting = true;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      pump.isWaiting = false;
      pump.raw += chunk.length;
      yield chunk;
      pump.isWaiting = true;
      timer.refresh();
    }
  };
  try {
    yield* decode(opened, count());
  } catch (error) {
    throw signal.aborted ? (signal.reason as Error) : toUnreachable(error, opened.href);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    discard(body);
  }
  const promised = opened.total === undefined ? undefined : opened.total - opened.start;
  if (promised !== undefined && pump.raw !== promised) {
    throw new StagingError("source", where, `said that it sends ${promised} bytes and sent ${pump.raw}`, {
      temporary: pump.raw < promised,
    });
  }
}

function decode({ encoding, href }: OpenedSource, raw: AsyncGenerator<Buffer>): AsyncIterable<Buffer> {
  if (encoding === undefined) {
    return raw;
  }
  const decoders = { gzip: createGunzip, "x-gzip": createGunzip, br: createBrotliDecompress, deflate: createInflate };
  if (!Object.hasOwn(decoders, encoding)) {
    throw new StagingError("source", displayUrl(href), `is sent as "${encoding}", which cannot be unpacked`);
  }
  // Failures end the iteration of the decoder; the callback has nothing to add.
  return pipeline(
    Readable.from(raw, { objectMode: false }),
    decoders[encoding as keyof typeof decoders](),
    () => undefined,
  );
}
