/**
 * What keeps the process small, as the platform starts it. Pictures leave much young garbage, most of it outside of V8's heap: a small
 * young generation lets go of it soon. Larger pieces have memory of their own, which goes back to the system when they are let go of, and do not
 * lie between smaller ones in the arenas that all threads share.
 */
export const PROCESS_ENVIRONMENT = {
  NODE_OPTIONS: "--max-semi-space-size=2",
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
} as const;
