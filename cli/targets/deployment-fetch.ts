import { lookup as resolve } from "node:dns";
import { type LookupFunction, isIP } from "node:net";
import { rootCertificates } from "node:tls";
import { Agent, fetch } from "undici";

import type { DeploymentAccess } from "./target.ts";

export type Fetch = typeof fetch;

/**
 * `fetch` for the hosts of a deployment on this machine: found without DNS, trusted with its own certificate authority beside
 * the public ones. Other hosts are reached as always.
 */
export function createDeploymentFetch(domain: string, { address, certificateAuthority }: DeploymentAccess): Fetch {
  const lookup: LookupFunction = (hostname, options, callback) => {
    if (address === undefined || !(hostname === domain || hostname.endsWith(`.${domain}`))) {
      resolve(hostname, options, callback);
    } else if (options.all) {
      callback(null, [{ address, family: isIP(address) }]);
    } else {
      callback(null, address, isIP(address));
    }
  };
  const dispatcher = new Agent({
    connect: {
      lookup,
      // An authority for trying out gives its intermediate certificate alone.
      ...(certificateAuthority !== undefined && {
        ca: [...rootCertificates, certificateAuthority],
        allowPartialTrustChain: true,
      }),
    },
  });
  return (input, init) => fetch(input, { ...init, dispatcher });
}
