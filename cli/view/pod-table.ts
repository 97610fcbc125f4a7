import type { PodStatus } from "../targets/pod-status.ts";
import { formatTable } from "./table.ts";

interface PodTableOptions {
  readonly header?: boolean;
  readonly now?: number;
}

const COLUMNS = ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", ""] as const;

/** Pods as the cluster's own tool prints them, with the reason behind those that are not ready. */
export function formatPods(
  pods: readonly PodStatus[],
  { header = true, now = Date.now() }: PodTableOptions = {},
): string {
  const rows = pods.map((pod) => [
    pod.namespace,
    pod.name,
    pod.phase === "Completed" || !pod.ready ? "0/1" : "1/1",
    pod.phase,
    String(pod.restarts),
    formatAge(now - Date.parse(pod.createdAt)),
    pod.message ?? "",
  ]);
  return formatTable(header ? [[...COLUMNS], ...rows] : rows, { minimums: [11, 28, 5, 16, 8, 4] });
}

/** 42s, 7m, 3h, 12d. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const units = [
    ["d", 86_400],
    ["h", 3600],
    ["m", 60],
  ] as const;
  const unit = units.find(([, size]) => seconds >= 2 * size);
  return unit === undefined ? `${seconds}s` : `${Math.floor(seconds / unit[1])}${unit[0]}`;
}
