import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";

/** What is known of the last build of an app: `components/<c>/web/dist/build.json`. */
export interface BuildRecord {
  /** Fingerprint of everything that it was made from. */
  readonly sources: string;
  /** Files outside the app's folder and `libs/ui` that it was made from, from the repository's root. */
  readonly imported: readonly string[];
  /** What it consists of, below `dist`. */
  readonly files: readonly string[];
}

/** Names of the components that have an app. */
export function listWebs(root: string): readonly string[] {
  return readdirSync(join(root, "components"))
    .filter((name) => existsSync(join(root, "components", name, "web/index.html")))
    .sort();
}

export function webFolder(root: string, component: string): string {
  return join(root, "components", component, "web");
}

/** The record of the last build; undefined when there is none, or none that was finished. */
export function readBuildRecord(root: string, component: string): BuildRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(webFolder(root, component), "dist/build.json"), "utf8")) as BuildRecord;
  } catch {
    return undefined;
  }
}

/** Whether the app has to be built: it never was, or something that it is made from has changed since. */
export function isStale(root: string, component: string): boolean {
  const record = readBuildRecord(root, component);
  return record === undefined || record.sources !== fingerprintSources(root, component, record.imported);
}

/** By content, not by time: a fresh checkout of what was built needs no build. */
export function fingerprintSources(root: string, component: string, imported: readonly string[]): string {
  const hash = createHash("sha256");
  const files = [
    "package-lock.json",
    `components/${component}/package.json`,
    "libs/ui/package.json",
    ...listFiles(root, "libs/ui/build"),
    ...listFiles(root, "libs/ui/src"),
    ...listFiles(root, `components/${component}/web`),
    ...imported,
  ];
  for (const file of files) {
    const path = join(root, file);
    const content = existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex") : "gone";
    hash.update(`${file} ${content}\n`);
  }
  return hash.digest("hex");
}

function listFiles(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !/(^|\/)(dist|node_modules)\//.test(file.slice(folder.length)) && !file.endsWith(".test.ts"))
    .sort();
}
