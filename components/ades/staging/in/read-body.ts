import { type Readable, pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { consumeChunks } from "@swath/service";

import { displayUrl } from "../display-url.ts";
import { StagingError } from "../errors.ts";
import { toUnreachable } from "./http-source.ts";
import { type OpenedSource, discard } from "./opened-source.ts";

interface ReadOptions {
  /** The source is given up when it sends nothing for so long. */
  readonly stallSeconds: number;
  readonly signal: AbortSignal;
}

/**
 * Gives the bytes of the file to `take` as they come, decompressed; the source waits as long as a promise that `take` gives.
 * @throws what `take` throws; {@link StagingError} when the source sends nothing for `stallSeconds`, breaks off, or sends another
 *   number of bytes than it said
 */
export async function readBody(
  opened: OpenedSource,
  { stallSeconds, signal }: ReadOptions,
  take: (chunk: Buffer) => undefined | Promise<void>,
): Promise<void> {
  const where = displayUrl(opened.href);
  const { body } = opened;
  let received = 0;
  const timer = setTimeout(() => {
    if (body.isPaused()) {
      // Our own disk is the slow one; the source is not to blame.
      timer.refresh();
    } else {
      body.destroy(new StagingError("source", where, `sent nothing for ${stallSeconds} seconds`, { temporary: true }));
    }
  }, stallSeconds * 1000);
  const abort = () => body.destroy(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): never => {
    failure ??= { error };
    throw error;
  };
  try {
    if (signal.aborted) {
      throw signal.reason as Error;
    }
    body.on("data", (chunk: Buffer) => {
      received += chunk.length;
      timer.refresh();
    });
    await consumeChunks(
      decode(opened),
      (chunk) => {
        try {
          return take(chunk)?.catch(fail);
        } catch (error) {
          return fail(error);
        }
      },
      { cutShort: () => new Error("closed before its end") },
    );
  } catch (error) {
    if (failure !== undefined) {
      throw failure.error;
    }
    throw signal.aborted ? (signal.reason as Error) : toUnreachable(error, opened.href);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    discard(body);
  }
  const promised = opened.total === undefined ? undefined : opened.total - opened.start;
  if (promised !== undefined && received !== promised) {
    throw new StagingError("source", where, `said that it sends ${promised} bytes and sent ${received}`, {
      temporary: received < promised,
    });
  }
}

function decode({ encoding, href, body }: OpenedSource): Readable {
  if (encoding === undefined) {
    return body;
  }
  const decoders = { gzip: createGunzip, "x-gzip": createGunzip, br: createBrotliDecompress, deflate: createInflate };
  if (!Object.hasOwn(decoders, encoding)) {
    throw new StagingError("source", displayUrl(href), `is sent as "${encoding}", which cannot be unpacked`);
  }
  // Failures end the decoder; the callback has nothing to add.
  return pipeline(body, decoders[encoding as keyof typeof decoders](), () => undefined);
}
