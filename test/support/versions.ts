// Other versions of this repository, for tests that take a deployment from one to another.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

export const git = (at: string, ...args: readonly string[]) =>
  spawnSync("git", ["-C", at, "-c", "user.name=test", "-c", "user.email=test@example.org", ...args], {
    encoding: "utf8",
  });

/** Why this checkout cannot give that commit; false where it can. */
export const findCommitSkipReason = (commit: string): string | false =>
  git(root, "cat-file", "-e", `${commit}^{commit}`).status !== 0 &&
  `commit ${commit} is not here (a shallow clone); git fetch --unshallow`;

/** The files of a commit, which run there. */
export function extractVersion(commit: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const archive = spawnSync("git", ["-C", root, "archive", "--format=tar", commit], { maxBuffer: 2 ** 30 });
  assert.equal(spawnSync("tar", ["-x", "-C", to], { input: archive.stdout }).status, 0);
  addModules(to);
}

/** A clone at a commit, the present one when left out, to which others can be added. */
export function cloneVersion(to: string, commit = "HEAD"): void {
  assert.equal(git(root, "clone", "--quiet", "--shared", root, to).status, 0);
  assert.equal(git(to, "checkout", "--quiet", "--detach", commit).status, 0);
  addModules(to);
}

/** A commit in a clone that changes the data of a component. @returns the name of its migration */
export function commitMigration(at: string, component: string): string {
  const migrations = `components/${component}/migrations`;
  const number = git(at, "ls-files", migrations).stdout.trim().split("\n").length + 1;
  const name = `${String(number).padStart(4, "0")}-tried.sql`;
  writeFileSync(join(at, migrations, name), "create table tried (id integer);\n");
  git(at, "add", "-A", "components");
  assert.equal(git(at, "commit", "--quiet", "-m", "a migration").status, 0);
  return name;
}

/** The dependencies of this checkout, as links: what another version needs is among them. */
function addModules(at: string): void {
  for (const folder of ["node_modules", ...globSync("{libs,components}/*/node_modules", { cwd: root })]) {
    // A component of today may not be there yet.
    if (existsSync(join(at, folder, ".."))) {
      assert.equal(spawnSync("cp", ["-al", join(root, folder), join(at, folder)]).status, 0);
    }
  }
  // A file of its own, for the link would lead to that of this checkout.
  rmSync(join(at, "node_modules/.installed-lock"), { force: true });
  copyFileSync(join(at, "package-lock.json"), join(at, "node_modules/.installed-lock"));
}
