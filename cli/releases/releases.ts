import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import packageJson from "../../package.json" with { type: "json" };
import { allVariableNames } from "../config/variables/table.ts";
import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { readCommit } from "./git.ts";

/** Migrations of each component, by the names of their files. */
type Migrations = Readonly<Record<string, readonly string[]>>;

/** A version of this code that was applied to a cluster, and how. */
export interface Release {
  readonly version: string;
  /** Left out where the code was not exactly that of a commit. */
  readonly commit?: string;
  readonly appliedAt: string;
  readonly migrations: Migrations;
  /** What the operator had set; holds secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Backup that was made before it. */
  readonly backup?: string;
}

/** The versions that were applied to a cluster, the latest last, kept with the deployment. */
export interface ReleaseRecord {
  readonly read: () => Promise<readonly Release[]>;
  readonly write: (releases: readonly Release[]) => Promise<void>;
}

const KEPT = 10;

/** With this version, which is applied now; of one commit in a row the last time counts. */
export function withRelease(before: readonly Release[], release: Release): readonly Release[] {
  const last = before.at(-1);
  const isSame =
    last !== undefined &&
    (last.commit === undefined ? isDeepStrictEqual(identify(last), identify(release)) : last.commit === release.commit);
  const backup = release.backup ?? (isSame ? last.backup : undefined);
  const kept = isSame ? before.slice(0, -1) : before;
  return [...kept, { ...release, ...(backup !== undefined && { backup }) }].slice(-KEPT);
}

/** All that tells one version of uncommitted code from another. */
const identify = (release: Release) => ({ ...release, appliedAt: "", backup: "" });

/** With one of them, which was applied again; the version itself may have kept a record that names no commit. */
export function withRepeated(before: readonly Release[], release: Release): readonly Release[] {
  return [...before, { ...release, appliedAt: new Date().toISOString() }].slice(-KEPT);
}

/** This code, with the variables that are set now. */
export function describeRelease(env: NodeJS.ProcessEnv): Release {
  const commit = readCommit(repositoryRoot);
  const provided = allVariableNames().flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    version: packageJson.version,
    ...(commit !== undefined && { commit }),
    appliedAt: new Date().toISOString(),
    migrations: listMigrations(repositoryRoot),
    variables: Object.fromEntries(provided),
  };
}

/** Migrations that one version has and another has not, of these components: `workspace-api: 0007-x.sql`. */
export function missingMigrations(
  has: Migrations,
  hasNot: Migrations,
  components: readonly string[],
): readonly string[] {
  return components.flatMap((component) =>
    (has[component] ?? [])
      .filter((name) => !(hasNot[component] ?? []).includes(name))
      .map((name) => `${component}: ${name}`),
  );
}

function listMigrations(root: string): Migrations {
  const folder = join(root, "components");
  const components = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return Object.fromEntries(
    components.flatMap(({ name }) => {
      const files = readNames(join(folder, name, "migrations"));
      return files.length === 0 ? [] : [[name, files] as const];
    }),
  );
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d/.test(name))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return [];
    }
    throw error;
  }
}
