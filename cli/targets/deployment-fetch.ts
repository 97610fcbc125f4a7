import { lookup as resolve } from "node:dns";
import { type LookupFunction, isIP } from "node:net";
import { rootCertificates } from "node:tls";
import { Agent, fetch } from "undici";

import type { DeploymentAccess } from "./target.ts";

export type Fetch = typeof fetch;

/** How to connect to the hosts of a deployment: for agents of Node and of undici. */
export interface DeploymentConnection {
  readonly lookup: LookupFunction;
  readonly ca?: string[];
  readonly allowPartialTrustChain?: boolean;
}

/**
 * Connections to the hosts of a deployment on this machine: found without DNS, trusted with its own certificate authority beside
 * the public ones. Other hosts are reached as always.
 */
export function createDeploymentConnection(
  domain: string,
  { address, certificateAuthority }: DeploymentAccess,
): DeploymentConnection {
  return {
    lookup: (hostname, options, callback) => {
      if (address === undefined || !(hostname === domain || hostname.endsWith(`.${domain}`))) {
        resolve(hostname, options, callback);
      } else if (options.all) {
        callback(null, [{ address, family: isIP(address) }]);
      } else {
        callback(null, address, isIP(address));
      }
    },
    // An authority for trying out gives its intermediate certificate alone.
    ...(certificateAuthority !== undefined && {
      ca: [...rootCertificates, certificateAuthority],
      allowPartialTrustChain: true,
    }),
  };
}

/** `fetch` over such connections. */
export function createDeploymentFetch(domain: string, access: DeploymentAccess): Fetch {
  const dispatcher = new Agent({ connect: createDeploymentConnection(domain, access) });
  return (input, init) => fetch(input, { ...init, dispatcher });
}
