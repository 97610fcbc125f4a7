import { parseQuantity } from "@swath/manifest";
import type { ResourceUsage } from "@swath/cwl";
import type { ClusterApi } from "@swath/kubernetes/api";

import { CONTAINER } from "./pod-types.ts";

/** metrics-server looks at each pod about that often. */
const INTERVAL_MS = 15_000;

/** The part of `PodMetrics` (metrics.k8s.io/v1beta1) that is read here. */
interface PodMetrics {
  readonly timestamp: string;
  /** A Go duration: what the processor time is the mean of. */
  readonly window: string;
  readonly containers: readonly {
    readonly name: string;
    readonly usage: { readonly cpu: string; readonly memory: string };
  }[];
}

export interface UsageSampler {
  /**
   * What the samples say of a tool that took so long: processor time is their mean for the whole of it, memory the most that was seen.
   * Nothing of a tool that ended before the first one, or where the cluster has no metrics.
   */
  readonly read: (wallSeconds: number) => Pick<ResourceUsage, "cpuSeconds" | "peakMemoryBytes">;
  readonly stop: () => void;
}

/** Asks the cluster's metrics now and then what the tool of a pod uses. A cluster keeps no account of it that could be read at the end. */
export function sampleUsage(api: ClusterApi, namespace: string, pod: string, intervalMs = INTERVAL_MS): UsageSampler {
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods/${pod}`;
  let latest = "";
  let [seconds, cpuSeconds, peakMemoryBytes] = [0, 0, 0];
  const sample = async () => {
    const metrics = await api.get<PodMetrics>(path);
    const usage = metrics?.containers.find(({ name }) => name === CONTAINER)?.usage;
    if (metrics === undefined || usage === undefined || metrics.timestamp === latest) {
      return;
    }
    latest = metrics.timestamp;
    const window = parseDuration(metrics.window);
    seconds += window;
    cpuSeconds += parseCores(usage.cpu) * window;
    peakMemoryBytes = Math.max(peakMemoryBytes, parseQuantity(usage.memory) ?? 0);
  };
  // Metrics are extra: a cluster without them, or that refuses them, runs jobs all the same.
  const timer = setInterval(() => void sample().catch(() => {}), intervalMs).unref();
  return {
    read: (wallSeconds) => (seconds === 0 ? {} : { cpuSeconds: (cpuSeconds / seconds) * wallSeconds, peakMemoryBytes }),
    stop: () => clearInterval(timer),
  };
}

const PARTS_OF_CORE: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({ n: 1e-9, u: 1e-6, m: 1e-3, "": 1 }),
);

/** `1500000n`, `12m`, `2`. */
export function parseCores(text: string): number {
  const [, amount = "0", unit = ""] = /^([\d.]+)([num]?)$/.exec(text) ?? [];
  return Number(amount) * (PARTS_OF_CORE.get(unit) ?? 1);
}

const SECONDS_OF: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({ h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 }),
);

/** `15.013s`, `1m0s`. */
export const parseDuration = (text: string): number =>
  [...text.matchAll(/([\d.]+)(h|ms|us|µs|ns|m|s)/g)].reduce(
    (sum, [, amount = "0", unit = "s"]) => sum + Number(amount) * (SECONDS_OF.get(unit) ?? 0),
    0,
  );
