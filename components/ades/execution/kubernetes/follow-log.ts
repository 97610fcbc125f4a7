import type { ClusterApi } from "@swath/kubernetes/api";
import { setTimeout as sleep } from "node:timers/promises";

import { CONTAINER } from "./pod-types.ts";
import { podsPath } from "./watch-pod.ts";

export interface LogFollower {
  /** Waits for what is still to come of a container that has ended. */
  readonly finish: () => Promise<void>;
  readonly stop: () => void;
}

/** How long the end of a log may take to arrive by the stream that is open. */
const TIMEOUT = 3000;

/** Hands a container's log on as it is written, from its beginning, each byte once, through broken connections. */
export function followLog(
  api: ClusterApi,
  namespace: string,
  pod: string,
  onText: (text: string) => void,
): LogFollower {
  const path = `${podsPath(namespace)}/${pod}/log`;
  const decoder = new TextDecoder();
  const stopped = new AbortController();
  let seen = 0;
  let isOver = false;
  const read = async (follow: boolean, signal: AbortSignal): Promise<void> => {
    let at = 0;
    for await (const piece of api.stream(path, { container: CONTAINER, ...(follow && { follow: "true" }) }, signal)) {
      const fresh = piece.subarray(Math.min(piece.length, Math.max(0, seen - at)));
      at += piece.length;
      if (fresh.length > 0) {
        seen = at;
        onText(decoder.decode(fresh, { stream: true }));
      }
    }
  };
  /** True when the log was read to its end, false when it broke off at the end. */
  const live = (async (): Promise<boolean> => {
    while (!stopped.signal.aborted) {
      try {
        await read(true, stopped.signal);
        if (isOver) {
          return true;
        }
        // The stream ends with the container, which is known in a moment, or with a kubelet that is started again.
      } catch {
        // A connection that broke: what is missing is read by the next one.
      }
      if (isOver) {
        return false;
      }
      await sleep(500, undefined, { signal: stopped.signal }).catch(() => {});
    }
    return false;
  })();
  return {
    finish: async () => {
      isOver = true;
      const isWhole = await Promise.race([live, sleep(TIMEOUT, false, { ref: false })]);
      stopped.abort();
      await live;
      if (!isWhole) {
        await read(false, AbortSignal.timeout(15_000)).catch(() =>
          onText("\n(the end of this log could not be read)\n"),
        );
      }
      onText(decoder.decode());
    },
    stop: () => stopped.abort(),
  };
}
