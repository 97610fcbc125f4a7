import type { Readable, Writable } from "node:stream";

import type { ByteRange } from "../protocol/range.ts";

/** What a store keeps in the database between two requests of an upload; plain JSON. */
export type WriterState = Readonly<Record<string, unknown>>;

/** Content under construction. One writer at a time; calls do not overlap. */
export interface BlobWriter {
  /** Takes a chunk; a promise asks the sender to wait. The chunk may be kept until it resolves, and no longer. */
  readonly write: (chunk: Buffer) => undefined | Promise<void>;
  /** Makes everything that was written durable, for a later writer to go on. */
  readonly pause: () => Promise<WriterState>;
  /** Makes the content complete and durable. */
  readonly finish: () => Promise<void>;
  /** Lets go of memory and handles; what is not durable may be lost. */
  readonly close: () => Promise<void>;
}

export interface WriterStart {
  readonly id: string;
  /** Bytes that earlier writers made durable; anything behind them is dropped. */
  readonly received: number;
  /** What the last `pause` gave; undefined for a new upload. */
  readonly state: WriterState | undefined;
}

/**
 * Where content is. It knows ids, which are never used twice, and nothing of digests and repositories: those are rows of the
 * database, which alone decides what exists.
 */
export interface BlobStore {
  readonly openWriter: (start: WriterStart) => Promise<BlobWriter>;
  readonly read: (id: string, range: ByteRange) => Promise<Readable>;
  /** Sends content and ends the target, where that is faster than reading it. Rejects when the target is gone. */
  readonly send?: (id: string, range: ByteRange, target: Writable) => Promise<void>;
  /** A URL from which a client may read the content for a while; undefined where the store has none. */
  readonly presign: ((id: string) => Promise<string>) | undefined;
  /** Drops what only served to go on with an upload, given what its last `pause` gave. Its blob is known by then. */
  readonly tidy?: (state: WriterState) => Promise<void>;
  /** Deletes content, complete or not. Succeeds when nothing is there. */
  readonly remove: (id: string) => Promise<void>;
  /** Rejects with the reason while content cannot be stored. */
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}
