import type { VerifiedToken } from "@swath/auth";

import type { EndTunnels } from "../policies/policy-source.ts";

/** The open WebSocket connections, so that a login that ends takes its connections with it. */
export interface Tunnels {
  readonly add: (verified: VerifiedToken | undefined, end: () => void) => () => void;
  readonly endWhere: EndTunnels;
  readonly endAll: () => void;
  readonly count: () => number;
}

export function createTunnels(): Tunnels {
  const open = new Set<{ readonly verified: VerifiedToken | undefined; readonly end: () => void }>();
  return {
    add: (verified, end) => {
      const tunnel = { verified, end };
      open.add(tunnel);
      return () => open.delete(tunnel);
    },
    endWhere: (mustEnd) => {
      for (const { verified, end } of open) {
        if (verified !== undefined && mustEnd(verified)) {
          end();
        }
      }
    },
    endAll: () => open.forEach(({ end }) => end()),
    count: () => open.size,
  };
}
