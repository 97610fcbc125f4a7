import { randomBytes } from "node:crypto";

import { readJsonFile, writeJsonFile } from "./json-file.ts";
import type { ClusterPaths } from "./paths.ts";

interface ControlKey {
  readonly key: string;
}

/** Makes the secret that the supervisor's control socket asks for. Each supervisor has one of its own. */
export function createControlKey({ controlKeyFile }: ClusterPaths): string {
  const key = randomBytes(32).toString("base64url");
  writeJsonFile(controlKeyFile, { key } satisfies ControlKey);
  return key;
}

/** The secret of the supervisor that runs; undefined where none ran yet, or one of an earlier version, which asks for none. */
export function readControlKey({ controlKeyFile }: ClusterPaths): string | undefined {
  return readJsonFile<ControlKey>(controlKeyFile)?.key;
}
