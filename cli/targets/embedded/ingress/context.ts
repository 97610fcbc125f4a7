import type { AccessLog } from "./access-log.ts";
import type { Limits } from "./limits.ts";
import type { IngressMetrics } from "./metrics.ts";
import type { RouteTable } from "./route-table.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";
import type { UpstreamPool } from "./upstream-pool.ts";

/** What every connection shares. The routing part is replaced when the configuration changes. */
export interface IngressContext {
  routes: RouteTable;
  /** The port of https, when requests without TLS are to be sent there. */
  redirectPort: number | undefined;
  challengeFolder: string | undefined;
  trustedProxies: TrustedProxies;
  /** No new request is begun on any connection once this is true. */
  draining: boolean;
  /** Requests that wait for their pod. */
  held: number;
  readonly limits: Limits;
  readonly pool: UpstreamPool;
  /** Told of every piece of a body that passes, so that its memory is freed in time. */
  readonly freeBuffers: (bytes: number) => void;
  readonly accessLog: AccessLog;
  readonly metrics: IngressMetrics;
  /** Told of an error that is no mistake of a client or a pod. The connection that it belongs to is ended. */
  readonly onFault: (error: unknown) => void;
}
