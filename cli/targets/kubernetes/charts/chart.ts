import type { JsonValue } from "@swath/kubernetes";
import type { PlatformSettings } from "@swath/manifest";

/** A part of the cluster that somebody else publishes as a Helm chart. */
export interface Chart {
  /** The release's name, and what people call it. */
  readonly name: string;
  readonly title: string;
  readonly repository: string;
  /** Pinned: the same deployment always installs the same. */
  readonly version: string;
  readonly namespace: string;
  readonly enabled: (settings: PlatformSettings) => boolean;
  readonly values: (settings: PlatformSettings) => JsonValue;
}
