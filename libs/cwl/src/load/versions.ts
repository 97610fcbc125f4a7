import type { CwlVersion } from "../model/process.ts";

/** Versions of CWL that are read. v1.3 is a draft. */
export const versions: readonly CwlVersion[] = ["v1.0", "v1.1", "v1.2", "v1.3.0-dev1"];

/** The version that a document says, undefined for one that is not read. Drafts of v1.1 and v1.2 are read as what they became. */
export function toVersion(value: unknown): CwlVersion | undefined {
  const became = typeof value === "string" ? value.replace(/^(v1\.[12])\.0-dev\d$/, "$1") : value;
  return versions.find((version) => version === became);
}
