import type { JsonValue } from "@swath/kubernetes";
import type { PlatformSettings } from "@swath/manifest";

import { KubernetesError } from "../kubernetes-error.ts";

/** A part of the cluster that somebody else publishes as a Helm chart. */
export interface Chart {
  /** The release's name, and what people call it. */
  readonly name: string;
  readonly title: string;
  readonly repository: string;
  /** Newest first. Pinned: the same deployment on the same cluster always installs the same. */
  readonly releases: readonly ChartRelease[];
  readonly namespace: string;
  readonly enabled: (settings: PlatformSettings) => boolean;
  /** The setting that uses what the cluster has instead. */
  readonly alternative: string;
  readonly values: (settings: PlatformSettings) => JsonValue;
}

/** A published version of a chart, and the Kubernetes versions (1.x) that its publisher supports it on. */
export interface ChartRelease {
  readonly version: string;
  /** Day of publication, YYYY-MM-DD. */
  readonly released: string;
  readonly minMinor: number;
  /** Left out where the publisher names none. */
  readonly maxMinor?: number;
}

/**
 * The newest release for Kubernetes 1.`minor`; the newest of all on a cluster that is newer than every release knows.
 * Undefined on a cluster that is too old for each.
 */
export function selectRelease({ releases }: Pick<Chart, "releases">, minor: number): ChartRelease | undefined {
  const [newest] = releases;
  const supported = releases.find(
    ({ minMinor, maxMinor = Number.POSITIVE_INFINITY }) => minor >= minMinor && minor <= maxMinor,
  );
  return (
    supported ??
    (newest !== undefined && minor > (newest.maxMinor ?? 0) && minor >= newest.minMinor ? newest : undefined)
  );
}

/** @throws {KubernetesError} on a cluster that is too old for every release */
export function requireRelease(chart: Chart, minor: number): ChartRelease {
  const release = selectRelease(chart, minor);
  if (release === undefined) {
    throw new KubernetesError(describeTooOld(chart, minor));
  }
  return release;
}

export function describeTooOld({ name, title, releases, alternative }: Chart, minor: number): string {
  const oldest = Math.min(...releases.map(({ minMinor }) => minMinor));
  return `no maintained release of the chart ${name} (${title}) supports Kubernetes 1.${minor}; the oldest it supports is 1.${oldest}. Upgrade the cluster, or use what it has: ${alternative}`;
}
