import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Variable of a program of ours that a test starts with an environment of its own: with it the program finds its code stripped and
 * compiled, which takes half off the processor time of its start.
 */
// oxlint-disable-next-line node/no-process-env -- the launcher says where it is
export const compiledCode = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] } as const;

const root = join(import.meta.dirname, "../../..");
/** Folder of the bundles, which the run of tests made of the present code. */
// oxlint-disable-next-line node/no-process-env -- set by tools/test.ts
const bundles = process.env["SWATH_TEST_BUNDLES"];
const files =
  bundles === undefined
    ? {}
    : (JSON.parse(readFileSync(join(bundles, "bundles.json"), "utf8")) as { files: Readonly<Record<string, string>> })
        .files;

/**
 * The file to start a program from: its bundle, as in a deployment, or its source.
 * @param program below `components`: `ades/main.ts`
 */
export function programFile(program: string): string {
  const bundle = files[`components/${program}`];
  return bundles === undefined || bundle === undefined ? join(root, "components", program) : join(bundles, bundle);
}
