import { createLogUpdate } from "log-update";

import { type PodStatus, isSettled } from "../targets/pod-status.ts";
import { formatPods } from "./pod-table.ts";

export interface Progress {
  readonly show: (pods: readonly PodStatus[]) => void;
  readonly done: () => void;
}

/** The state of all pods: a table that is redrawn in place on a terminal, a line for each step of a pod elsewhere. */
export function createProgress(stdout: NodeJS.WriteStream): Progress {
  // Some terminals have no size, and then nothing could be redrawn in them.
  if (stdout.isTTY && stdout.rows > 0) {
    const draw = createLogUpdate(stdout);
    return { show: (pods) => draw(formatPods(pods).trimEnd()), done: () => draw.done() };
  }
  const shown = new Map<string, string>();
  return {
    show: (pods) => {
      for (const pod of pods) {
        const state = isSettled(pod) && pod.phase === "Running" ? "Running and ready" : pod.phase;
        const text = `${state}${pod.message === undefined || state !== pod.phase ? "" : ` (${pod.message})`}`;
        if (shown.get(pod.name) !== text) {
          shown.set(pod.name, text);
          stdout.write(`  ${pod.namespace}/${pod.name}: ${text}\n`);
        }
      }
    },
    done: () => {},
  };
}
