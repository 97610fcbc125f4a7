import { RateWindows } from "@swath/service/rate-windows";

import { PdpError } from "./errors.ts";

/** Decisions for callers without a token from one address in a minute: an enforcement point asks for each request it guards. */
const PER_ADDRESS = 6000;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/** Counts decisions for callers whom nobody knows. @throws {PdpError} 429 */
export function createDecisionLimit(clock: () => number = Date.now): (address: string) => void {
  const windows = new RateWindows({ windowMs: WINDOW_MS, maxKeys: MAX_ADDRESSES, clock });
  return (address) => {
    const seconds = windows.count(address, PER_ADDRESS);
    if (seconds !== undefined) {
      throw new PdpError(
        429,
        "too many requests",
        `${PER_ADDRESS} decisions were asked for from this address within a minute; wait ${seconds} s, or send a token`,
      );
    }
  };
}
