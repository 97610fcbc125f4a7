/**
 * What keeps the process small, as the platform starts it: chunks of uploads and rows of manifests are young garbage, which a small
 * young generation lets go of soon; threads that allocate share two arenas. The bound of the old generation is far above what it
 * needs, because V8 counts memory of chunks against a share of it.
 */
export const PROCESS_ENVIRONMENT = {
  NODE_OPTIONS: "--max-semi-space-size=4 --max-old-space-size=1024",
  MALLOC_ARENA_MAX: "2",
} as const;
