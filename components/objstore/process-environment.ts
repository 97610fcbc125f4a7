/**
 * What keeps the process small, as the platform starts it. Buffers of large objects and pages of listings pass through all the
 * time: collected sooner, they take a third of the memory. The heap itself needs some 40 MB; an upper bound far above that, yet
 * far below the machine's memory, makes V8 look for garbage in time. Threads that allocate share two arenas.
 */
export const PROCESS_ENVIRONMENT = {
  NODE_OPTIONS: "--max-semi-space-size=1 --max-old-space-size=256",
  MALLOC_ARENA_MAX: "2",
} as const;
