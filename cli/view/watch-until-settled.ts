import { type PodStatus, isSettled } from "../targets/pod-status.ts";
import type { Target } from "../targets/target.ts";
import { formatLogLine } from "./log-line.ts";
import { createProgress } from "./progress.ts";

interface WatchOptions {
  readonly target: Target;
  readonly stdout: NodeJS.WriteStream;
  /** Seconds without any change of any pod after which waiting ends. */
  readonly patience?: number;
}

export type Outcome =
  | { readonly settled: true; readonly pods: number }
  | { readonly settled: false; readonly explanation: string };

/** Restarts in a row after which a pod is taken for broken. */
const HOPELESS_RESTARTS = 4;
const LOG_LINES = 15;

/** Shows every pod's progress until each is Running and ready or Completed, or until one keeps failing. */
export async function watchUntilSettled({ target, stdout, patience = 180 }: WatchOptions): Promise<Outcome> {
  const progress = createProgress(stdout);
  const controller = new AbortController();
  let timer = setTimeout(() => controller.abort(), patience * 1000);
  const first = new Map<string, number>();
  let last: readonly PodStatus[] = [];
  try {
    for await (const pods of target.watchPods(controller.signal)) {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(), patience * 1000);
      last = pods;
      progress.show(pods);
      for (const pod of pods.filter(({ name }) => !first.has(name))) {
        // A pod may have crashed last week; what counts is what it does now.
        first.set(pod.name, pod.phase === "CrashLoopBackOff" ? pod.restarts - 2 : pod.restarts);
      }
      const failing = pods.find(
        (pod) => pod.phase === "CrashLoopBackOff" && pod.restarts - (first.get(pod.name) ?? 0) >= HOPELESS_RESTARTS,
      );
      if (failing !== undefined) {
        return { settled: false, explanation: await explain(target, [failing]) };
      }
      if (
        pods.length > 0 &&
        pods.every((pod) => isSettled(pod) || pod.phase === "Terminating") &&
        pods.some(isSettled)
      ) {
        return { settled: true, pods: pods.filter(isSettled).length };
      }
    }
  } finally {
    clearTimeout(timer);
    controller.abort();
    progress.done();
  }
  return {
    settled: false,
    explanation: await explain(
      target,
      last.filter((pod) => !isSettled(pod)),
    ),
  };
}

/** Which pod, why, and the last it said; everything else keeps running. */
async function explain(target: Target, pods: readonly PodStatus[]): Promise<string> {
  const parts = await Promise.all(
    pods.map(async (pod) => {
      const lines = await target.tailLog(pod.name, LOG_LINES);
      return (
        `\nERROR: pod ${pod.namespace}/${pod.name} is not ready: ${pod.message ?? pod.phase}\n` +
        (lines.length > 0 ? `Its last log lines:\n${lines.map((line) => `  ${formatLogLine(line)}`).join("\n")}\n` : "")
      );
    }),
  );
  return `${parts.join("")}\nThe other pods are left running. More: bin/swath pods, bin/swath logs POD\n`;
}
