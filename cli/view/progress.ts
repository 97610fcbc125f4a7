import { createLogUpdate } from "log-update";

import { type PodStatus, isSettled } from "../targets/pod-status.ts";
import { formatPods } from "./pod-table.ts";

export interface Progress {
  readonly show: (pods: readonly PodStatus[]) => void;
  readonly done: () => void;
}

const WAITING = "waiting for ";

/**
 * The state of all pods: a table that is redrawn in place on a terminal; elsewhere a line for each step of a pod, and one for whatever
 * pods wait for.
 */
export function createProgress(stdout: NodeJS.WriteStream): Progress {
  // Some terminals have no size, and then nothing could be redrawn in them.
  if (stdout.isTTY && stdout.rows > 0) {
    const draw = createLogUpdate(stdout);
    return { show: (pods) => draw(formatPods(pods).trimEnd()), done: () => draw.done() };
  }
  const shown = new Map<string, string>();
  const waits = new Set<string>();
  return {
    show: (pods) => {
      for (const pod of pods) {
        if (pod.message?.startsWith(WAITING) === true) {
          if (!waits.has(pod.message)) {
            waits.add(pod.message);
            stdout.write(`  ${pod.message}\n`);
          }
          continue;
        }
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
