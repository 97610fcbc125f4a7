import { OAuthError } from "../oauth-error.ts";

/** Registrations of strangers from one address in an hour; people who try a client out need a few. */
const PER_ADDRESS = 20;
const WINDOW_MS = 3_600_000;
const MAX_ADDRESSES = 10_000;

/** Counts registrations by strangers. @throws {OAuthError} 429 with the seconds to wait in `Retry-After` */
export type RegistrationLimit = (address: string) => void;

/** Each process counts by itself; how many clients strangers may have in all is counted in the database. */
export function createRegistrationLimit(clock: () => number = Date.now): RegistrationLimit {
  const counts = new Map<string, { readonly until: number; count: number }>();
  return (address) => {
    const now = clock();
    const known = counts.get(address);
    const window = known !== undefined && known.until > now ? known : { until: now + WINDOW_MS, count: 0 };
    window.count += 1;
    if (window !== known) {
      // The oldest go first: a map keeps the order of insertion.
      counts.delete(address);
      const [oldest] = counts.keys();
      if (counts.size >= MAX_ADDRESSES && oldest !== undefined) {
        counts.delete(oldest);
      }
      counts.set(address, window);
    }
    if (window.count > PER_ADDRESS) {
      const seconds = Math.ceil((window.until - now) / 1000);
      throw new OAuthError(
        429,
        "temporarily_unavailable",
        `${PER_ADDRESS} clients were registered from this address within an hour; wait, or ask an operator to register it`,
        { "retry-after": String(seconds) },
      );
    }
  };
}
