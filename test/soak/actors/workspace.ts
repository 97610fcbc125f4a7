import type { Place } from "./actor.ts";

/** The workspace of the user eric: made when it is first asked for. */
export function createWorkspace({ visitor, url }: Place, actor: string) {
  let isReady = false;
  return {
    isReady: async (): Promise<boolean> => {
      if (!isReady) {
        await visitor.ask(actor, url("workspace-api-open", "/workspaces"), {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ preferred_name: "eric", default_owner: "eric" }),
        });
        const answer = await visitor.ask(actor, url("workspace-api-open", "/workspaces/ws-eric"));
        isReady = answer?.status === 200 && answer.json().status === "ready";
      }
      return isReady;
    },
  };
}
