import type { Target } from "../store/servers.ts";
import type { Handle, Spawner } from "./spawner.ts";

/** Sites that run in the browser alone: the proxy serves their files, nothing is started. */
export function createBrowserSpawner(): Spawner {
  return {
    whyNot: async () => undefined,
    plan: ({ profile }) => ({
      kind: "browser",
      ...(profile.embedded?.kind === "browser" && { site: profile.embedded.site }),
      ...(profile.embedded?.kind === "browser" &&
        profile.embedded.site === "stac-browser" && { hosts: profile.embedded.hosts ?? [] }),
    }),
    start: async (_launch, handle) => ({ handle, target: toTarget(handle) }),
    poll: async () => ({ alive: true }),
    stop: async () => {},
    usage: async () => undefined,
    log: async () => "",
  };
}

function toTarget({ site, hosts }: Handle): Target {
  return { site: String(site), ...(Array.isArray(hosts) && { hosts: hosts.map(String) }) };
}
