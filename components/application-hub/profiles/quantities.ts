import { parseQuantity } from "@swath/manifest";

import type { Profile } from "./model.ts";

/** What a server may use. */
export interface ServerSize {
  readonly cores: number;
  readonly memoryBytes: number;
}

const DEFAULT_CORES = 1;
const DEFAULT_MEMORY_BYTES = 2 ** 30;

type Override = NonNullable<NonNullable<Profile["definition"]["kubespawner_override"]>>;

/** The overrides of a profile, with those of the options that were chosen on top. */
export function overrideOf({ definition }: Profile, options: Readonly<Record<string, unknown>>): Override {
  let override: Override = { ...definition.kubespawner_override };
  for (const [name, { choices }] of Object.entries(definition.profile_options ?? {})) {
    const chosen = options[name];
    const choice =
      (typeof chosen === "string" && Object.hasOwn(choices, chosen) ? choices[chosen] : undefined) ??
      Object.values(choices).find(({ default: isDefault }) => isDefault === true) ??
      Object.values(choices)[0];
    override = { ...override, ...choice?.kubespawner_override };
  }
  return override;
}

export function sizeOf(profile: Profile, options: Readonly<Record<string, unknown>>): ServerSize {
  // What runs in the browser takes nothing of the platform.
  if (profile.embedded?.kind === "browser") {
    return { cores: 0, memoryBytes: 0 };
  }
  const { cpu_limit: cores, mem_limit: memory } = overrideOf(profile, options);
  return { cores: toCores(cores) ?? DEFAULT_CORES, memoryBytes: toBytes(memory) ?? DEFAULT_MEMORY_BYTES };
}

function toCores(value: string | number | null | undefined): number | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const text = String(value);
  const cores = text.endsWith("m") ? Number(text.slice(0, -1)) / 1000 : Number(text);
  return Number.isFinite(cores) && cores > 0 ? cores : undefined;
}

/** JupyterHub's `2G` is 2^31 bytes, unlike that of Kubernetes. */
function toBytes(value: string | number | null | undefined): number | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const text = String(value);
  return parseQuantity(/[kKMGTP]$/.test(text) ? `${text.replace("k", "K")}i` : text);
}
