import { spawn, spawnSync } from "node:child_process";
import { cpSync, copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { extractCommit, hasCommit } from "../../releases/git.ts";
import { type Release, missingMigrations, withRepeated } from "../../releases/releases.ts";
import { repositoryRoot } from "../../targets/embedded/launch/code-version.ts";
import { stateRoot } from "../../targets/embedded/state/paths.ts";
import { CommandError, type Command } from "../command.ts";
import { DEFAULT_CLUSTER, openTarget, readDeployedPlan } from "../../targets/open-target.ts";
import { describe } from "./upgrade-first.ts";

export const rollbackCommand: Command = {
  name: "rollback",
  summary: "go back to the version that was applied before",
  usage: `
Usage: swath rollback [CLUSTER]

Applies the version before the present one, with the variables that it was applied with. Data stay as they are, so it is refused where
the present version has changed them in a way that the one before does not know; then the backup of before the upgrade is named.`,
  run: async ({ args, env, stdout }) => {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    const cluster = positionals[0] ?? DEFAULT_CLUSTER;
    const target = openTarget(cluster, env);
    const plan = await readDeployedPlan(target);
    const releases = await target.releases.read();
    const before = findBefore(
      cluster,
      releases,
      plan.components.map(({ name }) => name),
    );
    const folder = await prepareCode(before, join(stateRoot(env), "releases"), (line) => stdout.write(`${line}\n`));
    stdout.write(`applying ${describe(before)} on the ${target.title}\n`);
    // The code of before may not know how this version's supervisor is spoken to.
    await target.handOver?.();
    const { domain, publicIp } = plan.settings;
    const status = await new Promise<number>((resolve, reject) => {
      const child = spawn(
        join(folder, "bin/swath"),
        ["deploy", "apply", cluster, domain, publicIp],
        // Its own variables, and of ours what is not one of the platform's.
        {
          env: { ...withoutVariables(env, releases), ...before.variables },
          stdio: ["ignore", "inherit", "inherit"],
        },
      );
      child.on("error", reject);
      child.on("exit", (code) => resolve(code ?? 1));
    });
    if (status === 0) {
      await target.releases.write(withRepeated(releases, before));
    }
    return status;
  },
};

/** @throws {CommandError} saying why there is no way back, and what there is instead */
function findBefore(cluster: string, releases: readonly Release[], components: readonly string[]): Release {
  const present = releases.at(-1);
  const before = releases.findLast(({ commit }) => commit === undefined || commit !== present?.commit);
  if (present === undefined || before === undefined || before === present) {
    throw new CommandError(`cluster "${cluster}" has had one version only, or those before kept no record`);
  }
  const changes = missingMigrations(present.migrations, before.migrations, components);
  const code = before.commit ?? `the version before (${describe(before)})`;
  if (changes.length > 0) {
    throw new CommandError(
      `nothing was changed: the present version has changed the data in a way that the one before (${describe(before)}) does not know: ${changes.join(", ")}. ` +
        (present.backup === undefined
          ? "No backup was made before it; restore one of that version, if you have it."
          : `The backup of before is ${present.backup}; what came since is not in it. To go back to it: git checkout ${code}; bin/swath restore ${present.backup}`),
    );
  }
  if (before.commit === undefined) {
    throw new CommandError(
      `nothing was changed: the version before (${describe(before)}) had changes that were not committed, so its code is not known; check it out yourself and apply it`,
    );
  }
  return before;
}

/** The files of a commit with their dependencies, in a folder of their own. */
async function prepareCode({ commit = "" }: Release, root: string, print: (line: string) => void): Promise<string> {
  const folder = join(root, commit);
  if (existsSync(join(folder, "bin/swath"))) {
    return folder;
  }
  if (!hasCommit(repositoryRoot, commit)) {
    throw new CommandError(
      `nothing was changed: commit ${commit} is not in ${repositoryRoot}; get it (git fetch --unshallow, or git fetch origin ${commit}) and repeat this`,
    );
  }
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o755 });
  extractCommit(repositoryRoot, commit, unfinished);
  const lock = (at: string) => readFileSync(join(at, "package-lock.json"), "utf8");
  const modules = join(repositoryRoot, "node_modules");
  if (lock(unfinished) === lock(repositoryRoot) && existsSync(join(modules, ".installed-lock"))) {
    for (const folder of listModules(repositoryRoot)) {
      copyModules(join(repositoryRoot, folder), join(unfinished, folder));
    }
    copyFileSync(join(unfinished, "package-lock.json"), join(unfinished, "node_modules/.installed-lock"));
  } else {
    print("its dependencies differ from those of the present version, so they are installed");
  }
  renameSync(unfinished, folder);
  return folder;
}

/** Folders of dependencies; npm gives a package one of its own where its versions differ from those of the others. */
function listModules(root: string): readonly string[] {
  return ["node_modules", ...globSync("{libs,components}/*/node_modules", { cwd: root })];
}

/** By hard links where the file system lets that, for it is many files. */
function copyModules(from: string, to: string): void {
  if (spawnSync("cp", ["-al", from, to]).status !== 0) {
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  }
}

function withoutVariables(env: NodeJS.ProcessEnv, releases: readonly Release[]): NodeJS.ProcessEnv {
  const names = new Set(releases.flatMap(({ variables }) => Object.keys(variables)));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}
