import { existsSync, globSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** What packages carry for people and debuggers. */
const FILES = /\.(map|d\.ts|d\.mts|d\.cts|tsbuildinfo|md|markdown|flow)$|\.(test|spec)\.[cm]?[jt]s$/i;
/** Licences stay with what they are of. */
const KEPT = /(^|\/)(licen[cs]e|notice|copying)[^/]*$/i;
/** Folders of a package, beside its package.json, that nothing loads at run time. */
const FOLDERS = /^(tests?|__tests__|docs?|examples?|bench(marks?)?|coverage|\.github|\.vscode)$/;
/** Parts of packages: binaries of other run times, what programs are compiled against Node.js and the database with, builds that Node.js does not load. */
const PARTS = [
  "node-linux-*/{include,share}",
  // Extensions and Python packages of another kernel than the platform's own.
  "@galaxyproject/jupyterlite/static/dist/_output/{extensions,pypi}",
  "h5wasm/dist/{iife,node}",
  "bare-*/prebuilds",
  "@embedded-postgres/*/native/include",
  "@embedded-postgres/*/native/lib/*.a",
  "@embedded-postgres/*/native/lib/libecpg*",
  "@embedded-postgres/*/native/lib/libpgtypes*",
  "@embedded-postgres/*/native/lib/pkgconfig",
  "@embedded-postgres/*/native/lib/postgresql/pgxs",
];

/** Removes from a folder's packages what no service and no command reads. */
export function removeLitter(app: string): void {
  for (const modules of globSync(["node_modules", "*/node_modules", "{components,libs}/*/node_modules"], {
    cwd: app,
  })) {
    const folder = join(app, modules);
    for (const part of globSync(PARTS, { cwd: folder })) {
      rmSync(join(folder, part), { recursive: true });
    }
    // Links lead to the workspaces, whose files are wanted as they are.
    const isOwn = createOwnTest(folder);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!isOwn(entry.parentPath)) {
        continue;
      }
      const isPackagePart = entry.isDirectory() && FOLDERS.test(entry.name) && isPackage(entry.parentPath);
      if (isPackagePart || (entry.isFile() && FILES.test(entry.name) && !KEPT.test(path))) {
        // One inside of another is gone already.
        rmSync(path, { recursive: true, force: true });
      }
    }
  }
}

/** Whether a folder lies in `modules` itself and is not reached by a link, which recursive reading follows. */
function createOwnTest(modules: string): (folder: string) => boolean {
  const root = realpathSync(modules);
  const known = new Map<string, boolean>();
  return (folder) => {
    const kept = known.get(folder);
    if (kept !== undefined) {
      return kept;
    }
    // What was removed has nothing left to remove.
    const real = existsSync(folder) ? realpathSync(folder) : "";
    const isInside = real === root || real.startsWith(`${root}/`);
    known.set(folder, isInside);
    return isInside;
  };
}

/** `node_modules/name` and `node_modules/@scope/name`, at any depth. */
function isPackage(folder: string): boolean {
  const above = dirname(folder);
  return /\/node_modules(\/@[^/]+)?$/.test(above) && existsSync(join(folder, "package.json"));
}
