import type { Place } from "./actor.ts";

/** The workspace of the user eric: made when it is first asked for. */
export function createWorkspace({ virtualUser, url }: Place, actor: string) {
  let isReady = false;
  return {
    isReady: async (): Promise<boolean> => {
      if (!isReady) {
        await virtualUser.send(actor, url("workspace-api-open", "/workspaces"), {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ preferred_name: "eric", default_owner: "eric" }),
        });
        const response = await virtualUser.send(actor, url("workspace-api-open", "/workspaces/ws-eric"));
        isReady = response?.status === 200 && response.json().status === "ready";
      }
      return isReady;
    },
  };
}
