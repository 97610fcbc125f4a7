import { existsSync, globSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Removes packages that no component needs at run time. npm keeps those that a component needs for its tests or pages when another
 * workspace, which is not in the image, needs them at run time.
 */
export function keepNeeded(app: string): void {
  const kept = new Set<string>();
  const visit = (folder: string): void => {
    const real = realpathSync(folder);
    if (kept.has(real)) {
      return;
    }
    kept.add(real);
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(real, "package.json"), "utf8"),
    ) as Manifest;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = findPackage(app, real, name);
      if (found !== undefined) {
        visit(found);
      }
    }
  };
  for (const folder of globSync("components/*", { cwd: app })) {
    visit(join(app, folder));
  }
  const installed = globSync(["**/node_modules/*/package.json", "**/node_modules/@*/*/package.json"], { cwd: app });
  // The deepest first: what lies inside of a package goes with it.
  for (const manifest of installed.toSorted((a, b) => b.length - a.length)) {
    const folder = join(app, dirname(manifest));
    if (existsSync(folder) && !kept.has(realpathSync(folder))) {
      rmSync(folder, { recursive: true });
    }
  }
}

/** Where Node.js finds a package from a folder: in the nearest `node_modules` upwards. */
function findPackage(app: string, from: string, name: string): string | undefined {
  for (let folder = from; folder.startsWith(app); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) {
      return candidate;
    }
  }
  return undefined;
}
