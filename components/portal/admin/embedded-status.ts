import { Problem, createPeer } from "@swath/service";

import type { Pod, PlatformStatus } from "./platform-status.ts";

/** Asks the supervisor of an embedded cluster, on the listener where it only tells. */
export function createEmbeddedStatus(url: string): PlatformStatus {
  const peer = createPeer(url);
  const send = async (path: string) => {
    try {
      return await peer.fetch(path, { timeout: 5000 });
    } catch (cause) {
      throw new Problem(502, "The cluster's supervisor does not answer; start it with: swath start", { cause });
    }
  };
  return {
    listPods: async () => ((await (await send("/pods")).json()) as { pods: readonly Pod[] }).pods,
    readLog: async (_namespace, pod, lines) => {
      const response = await send(`/pods/${encodeURIComponent(pod)}/log?lines=${lines}`);
      const text = await response.text();
      return response.ok ? text : undefined;
    },
    close: () => peer.close(),
  };
}
