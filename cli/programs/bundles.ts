import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { globSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { dirname, join } from "node:path";

import { createCodeVersions, repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { readJsonFile } from "../targets/embedded/state/json-file.ts";

/** Which bundle a program is in. */
export interface BundleList {
  /** Of the code that they were made from. */
  readonly version: string;
  /** Names of files in the folder, by program: a path from the repository's root. */
  readonly files: Readonly<Record<string, string>>;
}

/** Name of the list in the folder of the bundles. */
export const LIST = "bundles.json";

const INGRESS = "cli/targets/embedded/ingress/main.ts";

/** All that runs as a service, from the repository's root. */
export function listPrograms(): readonly string[] {
  return [INGRESS, ...globSync(["components/*/main.ts", "components/*/*/main.ts"], { cwd: repositoryRoot }).sort()];
}

/** A fingerprint of the code of all programs. */
export function codeVersionOfAll(codeVersion: (folder: string) => string = createCodeVersions()): string {
  const folders = globSync("components/*", { cwd: repositoryRoot }).sort();
  const hash = createHash("sha256").update(process.version);
  for (const folder of ["cli", ...folders]) {
    hash.update(codeVersion(folder));
  }
  return hash.digest("hex");
}

/** Bundles of this checkout beside the code that Node.js compiled; undefined where it keeps none. */
export function bundleFolder(): string | undefined {
  const compiled = getCompileCacheDir();
  return compiled === undefined ? undefined : join(dirname(dirname(compiled)), "bundles");
}

export const readBundles = (folder: string): BundleList | undefined => readJsonFile<BundleList>(join(folder, LIST));

/** Makes bundles of the present code where there are none; takes two seconds of a processor then. */
export async function ensureBundles(): Promise<void> {
  const folder = bundleFolder();
  if (folder === undefined || readBundles(folder)?.version === codeVersionOfAll()) {
    return;
  }
  const maker = spawn(process.execPath, [join(import.meta.dirname, "make-bundles.ts"), folder], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  maker.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const [code, signal] = (await once(maker, "close")) as [number | null, NodeJS.Signals | null];
  if (code !== 0) {
    throw new Error(`the programs could not be bundled (${signal ?? `exit code ${code}`}): ${said.trim()}`);
  }
}

/** Says which file holds a program of the present code; undefined while it is in none. */
export function openBundles(
  codeVersion: (folder: string) => string = createCodeVersions(),
): (program: string) => string | undefined {
  const folder = bundleFolder();
  const list = folder === undefined ? undefined : readBundles(folder);
  if (folder === undefined || list?.version !== codeVersionOfAll(codeVersion)) {
    return () => undefined;
  }
  return (program) => {
    const file = list.files[program];
    return file === undefined ? undefined : join(folder, file);
  };
}
