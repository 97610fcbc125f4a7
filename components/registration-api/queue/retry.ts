import { createBackOff } from "@swath/work";

/** Attempts of a task before it is set aside. */
export const MAX_ATTEMPTS = 10;
/** Attempts of a task that fails for a reason that nobody foresaw. */
export const MAX_UNEXPECTED_ATTEMPTS = 3;

/** Seconds before the next attempt: 1, 3, 9, 27 … 900. */
export const toDelay = createBackOff({ firstSeconds: 1, factor: 3, maxSeconds: 900, spread: 0.2 });
