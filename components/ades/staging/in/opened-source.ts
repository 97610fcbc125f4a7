import type { Readable } from "node:stream";

import type { Checksum } from "./checksums.ts";

/** A request for the bytes of an address, from `start` on. */
export interface OpenRequest {
  readonly href: string;
  /** First byte wanted. A source that cannot do that, or has changed since `validator`, gives the whole. */
  readonly start?: number;
  readonly validator?: string;
  readonly accept?: string;
  /** Document that names the address; none when the caller does. Strangers' documents do not get at what is the caller's own. */
  readonly from?: string;
  readonly signal: AbortSignal;
}

/** Bytes on their way. The body must be read to its end or destroyed. */
export interface OpenedSource {
  /** After redirects. */
  readonly href: string;
  /** Where the body begins in the file. */
  readonly start: number;
  /** Length of the whole file as the source claims. */
  readonly total?: number;
  /** What tells this version of the file from another: a strong ETag, or the date of the last change. */
  readonly validator?: string;
  /** Of the whole file, where the source says it. */
  readonly checksum?: Checksum;
  readonly mediaType?: string;
  /** Name that the source gives the file. */
  readonly fileName?: string;
  readonly lastModified?: string;
  /** Compression on top of the file (`gzip`, `br`, `deflate`): `total` then counts compressed bytes. */
  readonly encoding?: string;
  readonly body: Readable;
}

/** Gives up a body that is not wanted (any more). Giving up is no failure, so what the client says about it is not heard. */
export function discard(body: Readable): void {
  body.on("error", () => undefined);
  body.destroy();
}
