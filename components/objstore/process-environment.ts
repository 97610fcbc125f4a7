/**
 * What keeps the process small, as the platform starts it. The young generation just holds a page of a listing: a smaller one would
 * pass all of it on to the old, a larger one would hold on to more chunks of uploads. The bound of the old generation is far above
 * the 40 MB it needs: V8 counts chunks of uploads against a share of it, and marks its whole heap again and again where it is low.
 * Threads that allocate share two arenas.
 */
export const PROCESS_ENVIRONMENT = {
  NODE_OPTIONS: "--max-semi-space-size=2 --max-old-space-size=2048",
  MALLOC_ARENA_MAX: "2",
} as const;
