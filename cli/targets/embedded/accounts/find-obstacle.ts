import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { repositoryRoot } from "../launch/code-version.ts";

/** Why services cannot have accounts of their own, and what the operator does about it. */
export interface Obstacle {
  readonly reason: string;
  readonly advice: string;
}

/** How a program gets the account of a service. */
export interface AccountMeans {
  /** Whether `setpriv` of util-linux does it, which takes away more than Node.js can. */
  readonly hasSetpriv: boolean;
  /** Whether an account without rights may make user name spaces, and so sandboxes. */
  readonly hasUserNamespaces: boolean;
  /** Folder above the code that others may not pass through, and the folders below it that a service has to see. */
  readonly hidden?: { readonly barrier: string; readonly trees: readonly string[] };
}

/** Rights that the supervisor needs: to give files away, to change users, and to find and end the processes of other users. */
const CAPABILITIES: Readonly<Record<string, number>> = {
  CAP_CHOWN: 0,
  CAP_DAC_OVERRIDE: 1,
  CAP_FOWNER: 3,
  CAP_KILL: 5,
  CAP_SETGID: 6,
  CAP_SETUID: 7,
  CAP_SYS_PTRACE: 19,
};
const HIGHEST_NUMBER = 65_519;
const OTHERS_READ = 0o004;
const OTHERS_PASS = 0o001;

/** Whether root can give services accounts of their own on this machine, and how. */
export function findAccountMeans(root: string = repositoryRoot): AccountMeans | Obstacle {
  const missing = listMissingCapabilities(readFileSync("/proc/self/status", "utf8"));
  if (missing.length > 0) {
    return {
      reason: `root has no ${missing.join(", ")} here`,
      advice: `In a container: start it with --cap-add ${missing.map((name) => name.slice("CAP_".length)).join(" --cap-add ")}.`,
    };
  }
  if (!coversRange(readFileSync("/proc/self/uid_map", "utf8"))) {
    return {
      reason: `there are no users with numbers up to ${HIGHEST_NUMBER} in this user name space`,
      advice: "Give the container a larger range of users.",
    };
  }
  const unreadable = [
    root,
    ...["package.json", "components", "libs/service/src/index.ts", "node_modules"].map((name) => join(root, name)),
    process.execPath,
  ].find((path) => !isOpen(path));
  if (unreadable !== undefined) {
    return {
      reason: `other users may not read ${unreadable}`,
      advice: `Let them: chmod -R go+rX ${unreadable === process.execPath ? unreadable : root}`,
    };
  }
  const confine = setprivOptions({ uid: 61_184, gid: 61_184, groups: [61_184] });
  const hasSetpriv = tries("setpriv", [...confine, "true"]);
  const nested = ["unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "true"];
  const means = { hasSetpriv, hasUserNamespaces: hasSetpriv && tries("setpriv", [...confine, ...nested]) };
  const trees = [root, ...(process.execPath.startsWith(`${root}/`) ? [] : [dirname(process.execPath)])];
  const barriers = trees.map(findBarrier).filter((barrier) => barrier !== undefined);
  const [barrier] = barriers;
  if (barrier === undefined) {
    return means;
  }
  const inside = trees.filter((tree) => tree.startsWith(`${barrier}/`));
  if (!barriers.every((other) => other === barrier) || !tries("unshare", ["--mount", "mount", "--version"])) {
    return {
      reason: `other users may not pass through ${barrier} to the programs`,
      advice: `Let them (chmod o+x ${barrier}), or move the checkout elsewhere.`,
    };
  }
  return { ...means, hidden: { barrier, trees: inside } };
}

/** Options of `setpriv` for a program without any right of root's, nor a way back to one. */
export function setprivOptions({
  uid,
  gid,
  groups,
  capabilities = [],
}: {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** What it keeps: `net_bind_service`. */
  readonly capabilities?: readonly string[];
}): readonly string[] {
  const kept = ["-all", ...capabilities.map((name) => `+${name}`)].join(",");
  return [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    groups.length === 0 ? "--clear-groups" : `--groups=${groups.join(",")}`,
    `--bounding-set=${kept}`,
    `--inh-caps=${kept}`,
    ...(capabilities.length > 0 ? [`--ambient-caps=${kept}`] : []),
    "--no-new-privs",
    "--",
  ];
}

/** Of those that the supervisor needs. */
export function listMissingCapabilities(status: string): readonly string[] {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  return Object.entries(CAPABILITIES)
    .filter(([, bit]) => (effective & (1n << BigInt(bit))) === 0n)
    .map(([name]) => name);
}

/** @param map lines of `inside outside count` */
export function coversRange(map: string): boolean {
  return map
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .some(([inside = 0, , count = 0]) => inside <= 61_184 && inside + count > HIGHEST_NUMBER);
}

function isOpen(path: string): boolean {
  const found = statSync(path);
  const bits = found.isDirectory() ? OTHERS_READ | OTHERS_PASS : OTHERS_READ;
  return (found.mode & bits) === bits;
}

/** The highest folder above a path that others may not pass through. */
function findBarrier(path: string): string | undefined {
  const above: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    above.unshift(folder);
  }
  return above.find((folder) => (statSync(folder).mode & OTHERS_PASS) === 0);
}

function tries(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore", timeout: 10_000 }).status === 0;
}
