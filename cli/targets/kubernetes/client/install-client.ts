import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { removeLitter } from "../../../../tools/install/prune-files.ts";
import { KubernetesError } from "../kubernetes-error.ts";

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

interface Installation {
  /** The checkout, whose lock file has the package. */
  readonly root: string;
  /** Gets a `node_modules`. */
  readonly folder: string;
  readonly name: string;
  /** About what is fetched. */
  readonly megabytes: number;
}

const NPM_CI = ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
const LONGEST_MS = 600_000;

const run = promisify(execFile);

/**
 * Installs a package of the lock file, with what it needs, beside the code that uses it.
 * @param say is called with a line before anything is fetched
 * @throws {KubernetesError} naming the reason and the way without a network
 */
export async function installClient(
  { root, folder, name, megabytes }: Installation,
  say: (line: string) => void,
): Promise<void> {
  say(`swath: installing the Kubernetes client, about ${megabytes} MB (only when it is missing or changed) ...`);
  let staged: string | undefined;
  try {
    staged = mkdtempSync(join(folder, ".install-"));
    await install(root, staged, name);
    removeLitter(staged);
    rmSync(join(folder, "node_modules"), { recursive: true, force: true });
    renameSync(join(staged, "node_modules"), join(folder, "node_modules"));
  } catch (cause) {
    throw new KubernetesError(
      `the Kubernetes client (${name}) could not be installed: ${describeFailure(cause)}\n` +
        "A deployment on Kubernetes needs it once from npm's registry. On a machine without a network: run the same command in a copy of " +
        `this checkout where there is one, and bring ${join(folder, "node_modules")} from there`,
      { cause },
    );
  } finally {
    if (staged !== undefined) {
      rmSync(staged, { recursive: true, force: true });
    }
  }
}

async function install(root: string, staged: string, name: string): Promise<void> {
  const lockFile = join(staged, "package-lock.json");
  cpSync(join(root, ".npmrc"), join(staged, ".npmrc"));
  writeManifests(root, staged, name);
  const { stdout: registry } = await runHere("npm", ["config", "get", "registry"], staged);
  await runHere(process.execPath, [join(root, "tools/install/prepare-lock.mjs"), lockFile, registry.trim()], staged);
  try {
    await runHere("npm", NPM_CI, staged);
  } catch (error) {
    // A registry that keeps archives elsewhere says so: then npm asks it for every package.
    if (!/code E40\d/.test(describeFailure(error))) {
      throw error;
    }
    writeManifests(root, staged, name);
    await runHere("npm", NPM_CI, staged);
  }
}

/** A package that needs this one alone, with all that the checkout locks: npm leaves out what is not needed. */
function writeManifests(root: string, staged: string, name: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
  const manifest = {
    name: "swath-kubernetes-client",
    version: "0.0.0",
    private: true,
    dependencies: { [name]: packages[`node_modules/${name}`]?.version },
  };
  const locked = Object.entries(packages)
    .filter(([path, { link }]) => path.startsWith("node_modules/") && link !== true)
    .map(([path, { dev: _dev, devOptional: _devOptional, ...entry }]) => [path, entry] as const);
  const lock = { ...manifest, lockfileVersion: 3, packages: Object.fromEntries([["", manifest], ...locked]) };
  writeFileSync(join(staged, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(staged, "package-lock.json"), JSON.stringify(lock));
}

const runHere = (program: string, args: readonly string[], cwd: string) =>
  run(program, args, { cwd, timeout: LONGEST_MS });

/** What npm said, else what happened. */
function describeFailure(error: unknown): string {
  const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
  return said === "" ? (error as Error).message : said;
}
