import { type PodStatus, isSettled } from "../targets/pod-status.ts";
import type { Target } from "../targets/target.ts";
import { formatLogLine } from "./log-line.ts";
import { createProgress } from "./progress.ts";

interface WatchOptions {
  readonly target: Target;
  readonly stdout: NodeJS.WriteStream;
  /** What the tool itself is still doing; pods that look ready may be those of before. */
  readonly finished: Promise<void>;
  /** Seconds without any change of any pod after which waiting ends. */
  readonly timeout?: number;
}

export type Outcome =
  | { readonly settled: true; readonly pods: number }
  | { readonly settled: false; readonly explanation: string };

/** Restarts in a row after which a pod is taken for broken. */
const HOPELESS_RESTARTS = 4;
const LOG_LINES = 15;
/** Seconds after which a pod that says it is stuck is believed: a registry may answer at the second try. */
const STUCK_SECONDS = 20;

/** Shows every pod's progress until each is Running and ready or Completed, or until one keeps failing. */
export async function watchUntilSettled({ target, stdout, finished, timeout = 180 }: WatchOptions): Promise<Outcome> {
  const progress = createProgress(stdout);
  const controller = new AbortController();
  let timer = setTimeout(() => controller.abort(), timeout * 1000);
  let stuckTimer: NodeJS.Timeout | undefined;
  let isFinished = false;
  let failure: { readonly error: unknown } | undefined;
  finished.then(
    () => {
      isFinished = true;
      if (looksSettled(last)) {
        controller.abort();
      }
    },
    (error: unknown) => {
      failure = { error };
      controller.abort();
    },
  );
  const first = new Map<string, number>();
  let last: readonly PodStatus[] = [];
  try {
    for await (const pods of target.watchPods(controller.signal)) {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(), timeout * 1000);
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
      if (pods.some(isStuck)) {
        stuckTimer ??= setTimeout(() => controller.abort(), STUCK_SECONDS * 1000);
      } else {
        clearTimeout(stuckTimer);
        stuckTimer = undefined;
      }
      if (isFinished && looksSettled(pods)) {
        break;
      }
    }
  } finally {
    clearTimeout(timer);
    clearTimeout(stuckTimer);
    controller.abort();
    progress.done();
  }
  const unready = last.filter((pod) => !isSettled(pod) && pod.phase !== "Terminating");
  if (failure !== undefined) {
    const { error } = failure;
    const explanation = unready.length > 0 ? await explain(target, unready) : "";
    return { settled: false, explanation: `\nERROR: ${(error as Error).message}\n${explanation}` };
  }
  return isFinished && looksSettled(last)
    ? { settled: true, pods: last.filter(isSettled).length }
    : { settled: false, explanation: await explain(target, unready) };
}

/** A peer that refuses what the operator's variables say goes on refusing it; one that is away may come. */
export const isStuck = ({ stuck, ready, message = "" }: PodStatus): boolean =>
  stuck === true || (!ready && /\banswer(?:s|ed) 4\d\d\b.*; check [A-Z]/s.test(message));

function looksSettled(pods: readonly PodStatus[]): boolean {
  return pods.every((pod) => isSettled(pod) || pod.phase === "Terminating") && pods.some(isSettled);
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
