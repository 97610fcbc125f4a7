import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Branches that a change is compared with, the first that exists. */
const BASES = ["origin/main", "main"];

/**
 * Files that differ from the point where this branch left main, committed or not, as paths from the root. Deleted files are left out.
 * On main itself: what is not committed.
 */
export function findChangedFiles(root: string): readonly string[] {
  const base = BASES.map((branch) => findMergeBase(root, branch)).find((commit) => commit !== undefined) ?? "HEAD";
  const changed = git(root, ["diff", "--name-only", "--diff-filter=d", "-z", base]);
  const untracked = git(root, ["ls-files", "--others", "--exclude-standard", "-z"]);
  const names = new Set(`${changed}${untracked}`.split("\0").filter((name) => name !== ""));
  return [...names].filter((name) => existsSync(join(root, name))).sort();
}

function findMergeBase(root: string, branch: string): string | undefined {
  try {
    return git(root, ["merge-base", "HEAD", branch]).trim();
  } catch {
    // No such branch in this clone.
    return undefined;
  }
}

function git(root: string, args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
