import { existsSync, globSync, lstatSync, readFileSync, readdirSync, realpathSync, rmSync } from "node:fs";
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
  for (const folder of [app, ...globSync(["components/*", "libs/*"], { cwd: app }).map((name) => join(app, name))]) {
    removeOthers(join(folder, "node_modules"), kept);
  }
}

/** Removes what is not kept from a folder of packages and from those inside of them. */
function removeOthers(modules: string, kept: ReadonlySet<string>): void {
  const names = existsSync(modules) ? readdirSync(modules).filter((name) => !name.startsWith(".")) : [];
  const packages = names.flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((part) => join(name, part)) : [name],
  );
  for (const folder of packages.map((name) => join(modules, name))) {
    if (!kept.has(realpathSync(folder))) {
      rmSync(folder, { recursive: true });
    } else if (!lstatSync(folder).isSymbolicLink()) {
      removeOthers(join(folder, "node_modules"), kept);
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
