import type { LookupFunction } from "node:net";

import { Agent } from "undici";

/** Connects to an address whatever the host's name is: a deployment on this machine may have names that no DNS knows. */
export function createAddressedAgent(address: string | undefined): Agent {
  if (address === undefined) {
    return new Agent();
  }
  const family = address.includes(":") ? 6 : 4;
  const lookup: LookupFunction = (_name, options, callback) =>
    options.all === true ? callback(null, [{ address, family }]) : callback(null, address, family);
  return new Agent({ connect: { lookup } });
}
