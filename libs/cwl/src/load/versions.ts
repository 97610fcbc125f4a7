import type { CwlVersion } from "../model/process.ts";

/** Versions of CWL that are read. v1.3 is a draft. */
export const versions: readonly CwlVersion[] = ["v1.0", "v1.1", "v1.2", "v1.3.0-dev1"];

export function isVersion(value: unknown): value is CwlVersion {
  return versions.some((version) => version === value);
}
