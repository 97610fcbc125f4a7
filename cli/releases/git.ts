import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";

/** The commit that a checkout is exactly at; undefined where there is no git, no commit, or something that is not committed. */
export function readCommit(root: string): string | undefined {
  // A folder that lies in somebody else's checkout is none.
  if (run(root, "rev-parse", "--show-toplevel") !== realpathSync(root)) {
    return undefined;
  }
  const changed = run(root, "status", "--porcelain", "--untracked-files=no");
  return changed === "" ? run(root, "rev-parse", "--verify", "HEAD") : undefined;
}

export function hasCommit(root: string, commit: string): boolean {
  return run(root, "cat-file", "-e", `${commit}^{commit}`) !== undefined;
}

/** Writes the files of a commit into an empty folder. @throws {Error} with what git says */
export function extractCommit(root: string, commit: string, folder: string): void {
  const archive = spawnSync("git", ["-C", root, "archive", "--format=tar", commit], { maxBuffer: 2 ** 30 });
  const unpacked = archive.status === 0 ? spawnSync("tar", ["-x", "-C", folder], { input: archive.stdout }) : archive;
  if (unpacked.status !== 0) {
    throw new Error(unpacked.stderr?.toString().trim() || unpacked.error?.message || "git archive failed");
  }
}

function run(root: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", ["-C", root, ...args], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
