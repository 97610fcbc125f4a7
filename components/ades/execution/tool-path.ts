import { join } from "node:path";

import type { AdesSettings } from "./storage.ts";

const ROOT = join(import.meta.dirname, "../../..");

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
].map((name) => join(ROOT, name));
