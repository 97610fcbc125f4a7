import { existsSync } from "node:fs";

/** Why the public CWL v1.2 suite (common-workflow-language/cwl-v1.2) cannot be read; `undefined` when it can. */
export function findSuiteSkipReason(suite: string): string | undefined {
  return existsSync(suite) ? undefined : `the conformance tests are not at ${suite} (set SWATH_SHARED)`;
}
