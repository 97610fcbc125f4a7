import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Root of the checkout. */
export const repositoryRoot: string = join(import.meta.dirname, "../../../..");

const IGNORED = new Set(["node_modules", "test", "web", ".git"]);
/** What runs in browsers; of an app only the record of its build counts. */
const BROWSER_LIBRARY = join("libs", "ui");

/**
 * A fingerprint of the code that a pod runs: a folder (`components/portal`), the libraries and the lock file, by names, sizes and
 * times. Reading the contents would take longer than everything else in an `apply` that changes nothing.
 */
export function createCodeVersions(root: string = repositoryRoot): (folder: string) => string {
  const known = new Map<string, string>();
  const fingerprint = (folder: string): string => {
    const existing = known.get(folder);
    if (existing !== undefined) {
      return existing;
    }
    const hash = createHash("sha256");
    for (const line of listFiles(join(root, folder), join(root, BROWSER_LIBRARY))) {
      hash.update(line);
    }
    hash.update(describeFile(join(root, folder, "web/dist/build.json")));
    const made = hash.digest("hex");
    known.set(folder, made);
    return made;
  };
  const lockFile = statSync(join(root, "package-lock.json"));
  return (folder) => [fingerprint("libs"), fingerprint(folder), `${lockFile.size} ${lockFile.mtimeMs}`].join(" ");
}

function* listFiles(folder: string, left: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !IGNORED.has(entry.name) && path !== left) {
      yield* listFiles(path, left);
    } else if (entry.isFile() && !/\.test\.ts$|\.md$/.test(entry.name)) {
      yield describeFile(path);
    }
  }
}

function describeFile(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${path} ${found.size} ${found.mtimeMs}\n`;
}
