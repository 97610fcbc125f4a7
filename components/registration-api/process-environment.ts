/**
 * What keeps the process of a registrar small, as the platform starts it: pages of a harvest are young garbage, which a small young
 * generation lets go of soon; threads that allocate share two arenas. The bound of the old generation is for
 * four documents of the largest size beside each other.
 */
export const PROCESS_ENVIRONMENT = {
  NODE_OPTIONS: "--max-semi-space-size=8 --max-old-space-size=1024",
  MALLOC_ARENA_MAX: "2",
} as const;
