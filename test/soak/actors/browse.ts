import type { Actor, Place } from "./actor.ts";

/** Looks around: lists, documents, the portal's page. */
export function createBrowseActor({ virtualUser, url }: Place): Actor {
  const name = "browse";
  const pages = [
    url("portal", "/"),
    url("ades-open", "/eric/ogc-api/processes"),
    url("ades-open", "/eric/ogc-api/jobs?limit=20"),
    url("identity", "/realms/master/.well-known/openid-configuration"),
    url("workspace-api-open", "/workspaces"),
    url("dummy-service-open", "/hello"),
  ];
  let turns = 0;
  return {
    name,
    pauseMs: 100,
    act: async () => {
      turns += 1;
      await virtualUser.send(name, pages[turns % pages.length] ?? "");
    },
    settle: async () => `${turns} pages`,
  };
}
