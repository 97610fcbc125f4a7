import type { Connection } from "../api/connection.ts";
import type { LivePod } from "./live-pod.ts";

/** Gives the last thing the cluster complained of about a pod. */
export type WarningReader = (pod: LivePod) => Promise<string | undefined>;

/** Milliseconds that an answer is good for: complaints come every few seconds at most. */
const FRESH = 3000;
/** A pod that has just been made has nothing to complain of yet. */
const QUIET = 4000;

export function createWarningReader({ core }: Connection): WarningReader {
  const known = new Map<string, { readonly at: number; readonly text: string | undefined }>();
  return async ({ metadata: { name, namespace, uid, creationTimestamp } }) => {
    const id = uid ?? name;
    const now = Date.now();
    const kept = known.get(id);
    if (kept !== undefined && now - kept.at < FRESH) {
      return kept.text;
    }
    if (now - new Date(creationTimestamp ?? 0).getTime() < QUIET) {
      return undefined;
    }
    const { items } = await core.listNamespacedEvent({
      namespace,
      fieldSelector: `involvedObject.name=${name},type=Warning`,
    });
    const last = items
      .filter((event) => event.involvedObject.uid === undefined || event.involvedObject.uid === uid)
      .toSorted((a, b) => timeOf(a) - timeOf(b))
      .at(-1);
    const text = last === undefined ? undefined : `${last.reason ?? "Warning"}: ${(last.message ?? "").trim()}`;
    known.set(id, { at: now, text });
    return text;
  };
}

function timeOf(event: { readonly lastTimestamp?: Date; readonly eventTime?: unknown }): number {
  return new Date(event.lastTimestamp ?? (event.eventTime as Date | undefined) ?? 0).getTime();
}
