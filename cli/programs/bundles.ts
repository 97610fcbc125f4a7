import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { dirname, join } from "node:path";

import { createCodeVersions, repositoryRoot } from "../targets/embedded/launch/code-version.ts";

/** Which bundle a program is in. */
export interface BundleList {
  /** Of the code that they were made from. */
  readonly version: string;
  /** Names of files in the folder, by program: a path from the repository's root. */
  readonly files: Readonly<Record<string, string>>;
  /** Names of all files, those included that programs load when they first need them. */
  readonly all: readonly string[];
  /** The same of earlier code that may run still, the latest first. */
  readonly earlier: readonly (readonly string[])[];
}

/** Name of the list in the folder of the bundles. */
export const LIST = "bundles.json";

/** The supervisor's program, from the repository's root. */
export const SUPERVISOR = "cli/targets/embedded/supervisor/main.ts";
const INGRESS = "cli/targets/embedded/ingress/main.ts";

/** All that goes on running, from the repository's root. */
export function listPrograms(): readonly string[] {
  return [
    SUPERVISOR,
    INGRESS,
    ...globSync(["components/*/main.ts", "components/*/*/main.ts"], { cwd: repositoryRoot }).sort(),
  ];
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

/** Undefined also for a list that is damaged or of an older kind: then everything is made again. */
export function readBundles(folder: string): BundleList | undefined {
  try {
    const list = JSON.parse(readFileSync(join(folder, LIST), "utf8")) as Partial<BundleList>;
    return Array.isArray(list.earlier) ? (list as BundleList) : undefined;
  } catch {
    return undefined;
  }
}

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
