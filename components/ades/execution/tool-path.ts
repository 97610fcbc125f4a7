import type { View } from "@swath/isolation";
import { join } from "node:path";

import type { AdesSettings } from "./storage.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Where a tool finds the platform's own tools: where they are on this machine may be a place that it has files of its own at. */
const SEEN = "/run/swath/platform";

/** Where tools are found that run without a container: those of the example packages, then the system's. */
export const toolPath = ({ TOOL_PATH }: Pick<AdesSettings, "TOOL_PATH">): string =>
  TOOL_PATH ?? `${join(ROOT, "examples/bin")}:/usr/local/bin:/usr/bin:/bin`;

/** What the tools of the example packages are made of. */
export const EXAMPLE_TOOLS = [
  "examples",
  "libs",
  "node_modules",
  "tools/node",
  "package.json",
  "package-lock.json",
].map((name) => ({ kind: "read-only", source: join(ROOT, name), target: join(SEEN, name) }) as const satisfies View);

/** A PATH as a tool in a sandbox has it. */
export const seenPath = (path: string): string =>
  path
    .split(":")
    .map((folder) => (folder.startsWith(`${ROOT}/examples/`) ? join(SEEN, folder.slice(ROOT.length)) : folder))
    .join(":");
