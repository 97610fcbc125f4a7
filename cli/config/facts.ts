import type { PortalValuesFile } from "./portal-values/read-portal-values.ts";

/**
 * What resolving the configuration needs to know of the machine and of the cluster. Collected by the caller, so that
 * resolving stays a pure function.
 */
export interface MachineFacts {
  /** Address of the cluster: 127.0.0.1 for the embedded one, what the cluster tool reports, undefined where nobody knows. */
  readonly clusterIp: string | undefined;
  /** Whether a name below the wildcard DNS suffix resolves on this machine. */
  readonly wildcardDnsResolves: boolean;
  /** The domain an earlier apply chose for this cluster. */
  readonly keptDomain?: string | undefined;
  /** Whether only this machine reaches the ingress; found from the port options and addresses when left out. */
  readonly ingressOnLoopback?: boolean | undefined;
  /** Ports the ingress really listens on, where they differ from the wanted ones (no right to bind 80 and 443). */
  readonly ingressPorts?: { readonly http: number; readonly https: number } | undefined;
  /** The file that PORTAL_VALUES names. */
  readonly portalValues?: PortalValuesFile | undefined;
}
