/**
 * What keeps the process small, as the platform starts it: pages and lines of loads are young garbage, which a small young generation
 * lets go of soon; threads that allocate share two arenas.
 */
export const PROCESS_ENVIRONMENT = {
  NODE_OPTIONS: "--max-semi-space-size=8 --max-old-space-size=384",
  MALLOC_ARENA_MAX: "2",
} as const;
