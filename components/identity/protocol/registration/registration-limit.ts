import { RateWindows } from "@swath/service/rate-windows";

import { OAuthError } from "../oauth-error.ts";

/** Registrations of strangers from one address in an hour; people who try a client out need a few. */
const PER_ADDRESS = 20;
const WINDOW_MS = 3_600_000;
const MAX_ADDRESSES = 10_000;

/** Counts registrations by strangers. @throws {OAuthError} 429 with the seconds to wait in `Retry-After` */
export type RegistrationLimit = (address: string) => void;

/** Each process counts by itself; how many clients strangers may have in all is counted in the database. */
export function createRegistrationLimit(clock: () => number = Date.now): RegistrationLimit {
  const windows = new RateWindows({ windowMs: WINDOW_MS, maxKeys: MAX_ADDRESSES, clock });
  return (address) => {
    const seconds = windows.count(address, PER_ADDRESS);
    if (seconds !== undefined) {
      throw new OAuthError(
        429,
        "temporarily_unavailable",
        `${PER_ADDRESS} clients were registered from this address within an hour; wait, or ask an operator to register it`,
        { "retry-after": String(seconds) },
      );
    }
  };
}
