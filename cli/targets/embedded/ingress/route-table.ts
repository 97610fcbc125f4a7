import type { Route } from "./config.ts";

/** Finds the route of a host name: exact names first, then the longest wildcard, then hosts of workspaces. */
export interface RouteTable {
  readonly find: (authority: string) => Route | undefined;
  readonly routes: readonly Route[];
}

export function createRouteTable(routes: readonly Route[]): RouteTable {
  const exact = new Map(routes.map((route) => [route.host, route]));
  const perWorkspace = new Map(
    routes.filter((route) => route.perWorkspace === true).map((route) => [route.host, route]),
  );
  const wildcards = new Map(routes.filter(({ wildcard }) => wildcard).map((route) => [route.host, route]));
  return {
    routes,
    find: (authority) => {
      const found = exact.get(authority);
      if (found !== undefined) {
        return found;
      }
      const host = hostOf(authority);
      const route = exact.get(host);
      if (route !== undefined) {
        return route;
      }
      for (let dot = host.indexOf("."); dot !== -1; dot = host.indexOf(".", dot + 1)) {
        const wildcard = wildcards.get(host.slice(dot + 1));
        if (wildcard !== undefined) {
          return wildcard;
        }
      }
      return perWorkspace.size === 0 ? undefined : perWorkspace.get(withoutWorkspace(host));
    },
  };
}

/** `resource-catalogue.example.org` of `resource-catalogue.<workspace>.example.org`. */
const withoutWorkspace = (host: string): string => host.replace(/^([^.]+)\.[a-z0-9-]+\./, "$1.");

/** The host of a Host field, as routes name it: lower case, without port and trailing dot. */
export function hostOf(authority: string): string {
  return authority.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}
