/** Attempts of a task before it is set aside. */
export const MAX_ATTEMPTS = 10;
/** Attempts of a task that fails for a reason that nobody foresaw. */
export const MAX_UNEXPECTED_ATTEMPTS = 3;

const FIRST_DELAY_SECONDS = 1;
const MAX_DELAY_SECONDS = 900;

/** Seconds before the next attempt: 1, 3, 9, 27 … 900, a little spread so that not all come back at once. */
export function toDelay(attempts: number, random: () => number = Math.random): number {
  const delay = Math.min(FIRST_DELAY_SECONDS * 3 ** (attempts - 1), MAX_DELAY_SECONDS);
  return delay * (0.8 + 0.4 * random());
}
