import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";

/** What is known of the build of an app: `components/<c>/web/dist/build.json`. */
export interface BuildRecord {
  /** Fingerprint of everything that it was made from. */
  readonly sources: string;
  /** Files outside the app's folder and `libs/ui` that it was made from, from the repository's root. */
  readonly imported: readonly string[];
  /** Names of the npm packages that it was made from and with. */
  readonly packages: readonly string[];
  /** What it consists of, below `dist`: path to SHA-256. */
  readonly files: Readonly<Record<string, string>>;
}

/** What an app is made from apart from the repository's own files. */
export type BuildInputs = Pick<BuildRecord, "imported" | "packages">;

/** Files of this folder that decide over what is built, and not only over when. */
const BUNDLER_FILES = ["geotiff-worker.ts", "html-plugins.ts", "places.ts", "vite-config.ts"];

/** Names of the components that have an app. */
export function listWebs(root: string): readonly string[] {
  return readdirSync(join(root, "components"))
    .filter((name) => existsSync(join(root, "components", name, "web/index.html")))
    .sort();
}

export function webFolder(root: string, component: string): string {
  return join(root, "components", component, "web");
}

/** The record of the build that is there; undefined when there is none, or none that was finished. */
export function readBuildRecord(root: string, component: string): BuildRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(webFolder(root, component), "dist/build.json"), "utf8")) as BuildRecord;
  } catch {
    return undefined;
  }
}

/** Whether the app has to be built: it never was, a file of it is gone, or something that it is made from has changed since. */
export function isStale(root: string, component: string): boolean {
  const record = readBuildRecord(root, component);
  return (
    record === undefined ||
    record.packages === undefined ||
    Object.keys(record.files).some((file) => !existsSync(join(webFolder(root, component), "dist", file))) ||
    record.sources !== fingerprintSources(root, component, record)
  );
}

/** By content, not by time: a fresh checkout of what was built needs no build. */
export function fingerprintSources(root: string, component: string, { imported, packages }: BuildInputs): string {
  const hash = createHash("sha256");
  const files = [
    "libs/ui/package.json",
    ...BUNDLER_FILES.map((name) => `libs/ui/build/${name}`),
    ...listFiles(root, "libs/ui/src"),
    ...listFiles(root, `components/${component}/web`),
    ...imported,
  ];
  for (const file of files) {
    const path = join(root, file);
    const content = existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex") : "gone";
    hash.update(`${file} ${content}\n`);
  }
  for (const line of listVersions(root, new Set(packages))) {
    hash.update(`${line}\n`);
  }
  return hash.digest("hex");
}

/** Where the lock file puts packages, and in which version: one that a page does not hold changes nothing. */
function listVersions(root: string, names: ReadonlySet<string>): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  return Object.entries(packages)
    .filter(([path]) => names.has(toPackageName(path) ?? ""))
    .map(([path, { version }]) => `${path} ${version}`);
}

/** The innermost package of a path: `…/node_modules/@scope/name/…`. */
export function toPackageName(path: string): string | undefined {
  return /.*(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
}

function listFiles(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !/(^|\/)(dist|node_modules)\//.test(file.slice(folder.length)) && !file.endsWith(".test.ts"))
    .sort();
}
