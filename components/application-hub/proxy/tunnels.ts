import type { ServerRoute, Visit } from "./routes.ts";

/** Open WebSockets, so that whoever may not be there any more goes. */
export interface Tunnels {
  readonly add: (tunnel: Tunnel) => () => void;
  readonly recheck: (isGood: (tunnel: Tunnel) => Promise<boolean>) => Promise<void>;
  readonly count: () => number;
  readonly endAll: () => void;
}

export interface Tunnel {
  readonly server: ServerRoute;
  readonly visit: Visit;
  /** The cookie or token that let it in. */
  readonly credential: { readonly kind: "cookie" | "token"; readonly value: string };
  readonly end: () => void;
}

export function createTunnels(): Tunnels {
  const open = new Set<Tunnel>();
  return {
    add: (tunnel) => {
      open.add(tunnel);
      return () => open.delete(tunnel);
    },
    recheck: async (isGood) => {
      for (const tunnel of open) {
        if (!(await isGood(tunnel))) {
          tunnel.end();
        }
      }
    },
    count: () => open.size,
    endAll: () => open.forEach(({ end }) => end()),
  };
}
