/** Steps of a write after which a process may be killed; tests pass an implementation that kills, the service none. */
export type CrashPoint =
  | "content-opened"
  | "content-written"
  | "content-synced"
  | "content-named"
  | "index-applied"
  | "index-committed"
  | "index-durable"
  | "garbage-unlinked";

export interface CrashPoints {
  readonly reach: (point: CrashPoint) => void | Promise<void>;
}

export const noCrashPoints: CrashPoints = { reach: () => {} };
