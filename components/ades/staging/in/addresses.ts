import { type AddressGuard, createAddressGuard as createGuard } from "@swath/addresses";

import { StagingError } from "../errors.ts";

/**
 * The guard of addresses that inputs come from.
 * @param allowPrivate CIDR ranges, addresses and host names beside all global addresses
 * @throws {Error} for an entry that is none of these
 */
export const createAddressGuard = (allowPrivate: readonly string[]): AddressGuard =>
  createGuard({
    allowPrivate,
    refuse: (where, address) =>
      new StagingError(
        "access",
        where,
        `leads to ${address}, which is a private address; use an address that is public, or ask the operator to allow it (PROCESSING_ALLOW_PRIVATE)`,
      ),
  });
export type { AddressGuard };
