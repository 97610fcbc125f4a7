/** Steps of a write after which a process may be killed; tests pass an implementation that kills, the service none. */
export type CrashPoint =
  | "content-opened"
  | "content-written"
  | "content-synced"
  | "content-named"
  | "index-applied"
  /** Not awaited; one that throws is a commit that failed. */
  | "index-committing"
  /** The changes are in the journal, not yet in the index. Not awaited. */
  | "journal-written"
  | "index-committed"
  | "index-durable"
  | "garbage-unlinked"
  | "base-copied"
  | "base-named"
  | "snapshot-copied"
  | "snapshot-cloned"
  | "snapshot-named"
  | "restore-begun"
  | "restore-linked"
  | "restore-inserted"
  | "restore-swapped"
  | "restore-discarded";

export interface CrashPoints {
  readonly reach: (point: CrashPoint) => void | Promise<void>;
}

export const noCrashPoints: CrashPoints = { reach: () => {} };
