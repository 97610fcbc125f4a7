import type { Spawner } from "./spawner.ts";

/** Sites that run in the browser alone: the proxy serves their files, nothing is started. */
export function createBrowserSpawner(): Spawner {
  return {
    whyNot: async () => undefined,
    plan: ({ profile }) => ({
      kind: "browser",
      site: profile.embedded?.kind === "browser" ? profile.embedded.site : "",
    }),
    start: async (_launch, handle) => ({ handle, target: { site: String(handle["site"]) } }),
    poll: async () => ({ alive: true }),
    stop: async () => {},
    usage: async () => undefined,
    log: async () => "",
  };
}
