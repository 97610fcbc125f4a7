import { SANDBOX_USER, type View } from "@swath/isolation";
import { existsSync, realpathSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { basename, join } from "node:path";

import type { AdesSettings } from "./storage.ts";

const ROOT = join(import.meta.dirname, "../../..");
const EXAMPLES = `${ROOT}/examples/`;

/** Where tools are found that run without a container: those of the example packages, then the system's. */
export const toolPath = ({ TOOL_PATH }: Pick<AdesSettings, "TOOL_PATH">): string =>
  TOOL_PATH ?? `${EXAMPLES}bin:/usr/local/bin:/usr/bin:/bin`;

/**
 * Where a tool sees the platform's own tools. Where they are, so that code that was compiled before is found again by its path; but not
 * below temporary files, since a tool has its own there.
 */
export const seenRoot = (root: string): string => (/^\/(?:var\/)?tmp\//.test(root) ? "/run/swath/platform" : root);

/** Whether a folder of programs is one of the example packages. */
export const isOfExamples = (folder: string): boolean => folder.startsWith(EXAMPLES);

/** What the tools of the example packages are made of. */
export const EXAMPLE_TOOLS = [
  "examples",
  "libs",
  "node_modules",
  "tools/node",
  "package.json",
  "package-lock.json",
].map(
  (name) =>
    ({ kind: "read-only", source: join(ROOT, name), target: join(seenRoot(ROOT), name) }) as const satisfies View,
);

/** Where `examples/bin/swath-examples` looks for code that was compiled before. */
const COMPILED = "/run/swath/compiled";

/** Node.js keeps compiled code by the user's number, and a tool in a sandbox has another one than the service. */
export function showCompiledCode(): readonly View[] {
  const own = getCompileCacheDir();
  if (own === undefined || !existsSync(own)) {
    return [];
  }
  // A service with its own account has a link to what root compiled.
  const target = join(COMPILED, basename(own).replace(/-\d+$/, `-${SANDBOX_USER}`));
  return [{ kind: "read-only", source: realpathSync(own), target }];
}

/** A PATH as a tool in a sandbox has it. */
export const seenPath = (path: string): string =>
  path
    .split(":")
    .map((folder) => (isOfExamples(folder) ? join(seenRoot(ROOT), folder.slice(ROOT.length)) : folder))
    .join(":");
