import type { PlatformSettings, Variables } from "@swath/manifest";
import type { Action } from "./arguments.ts";
import type { Origin } from "./define.ts";
import type { ExtraOptions } from "./extra-options.ts";

/** What the operator said, complete and typed. */
export interface Config extends PlatformSettings {
  readonly action: Action;
  readonly origins: Readonly<Record<keyof Variables | "clusterName" | "domain" | "publicIp", Origin>>;
  /** LOCALCLUSTER_EXTRA_OPTIONS, read. */
  readonly extraOptions: ExtraOptions;
  /** True when nobody but this machine reaches the ingress. */
  readonly onLoopback: boolean;
}
