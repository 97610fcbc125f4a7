import type { Bucket } from "../store/buckets.ts";
import type { BucketMade } from "../store/tables.ts";

/** Where buckets are made. Both calls bring what they find to what is wanted, and may be repeated at any time. */
export interface BucketStorage {
  /**
   * Makes the bucket and, where it is asked for, keys. Calls `save` with each thing that only the storage's answer tells, before
   * going on.
   * @throws {StorageRefusal} for what trying again does not help
   */
  readonly apply: (bucket: Bucket, save: (made: BucketMade) => Promise<void>, signal: AbortSignal) => Promise<void>;
  /** Takes the keys away, and the data too where the bucket asks for that. */
  readonly remove: (bucket: Bucket, signal: AbortSignal) => Promise<void>;
  /** Tries the account that buckets are made with. @throws {Error} saying what to check */
  readonly check: (signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The storage answers, and does not do it; `reason` is a word for programs. */
export class StorageRefusal extends Error {
  override readonly name = "StorageRefusal";
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
