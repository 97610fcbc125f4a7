import { existsSync, readFileSync } from "node:fs";

import { findProgram } from "./find-program.ts";

/** What stands in the way of a sandbox. */
export type Obstacle = "programs" | "user-namespaces" | "apparmor" | "container" | "unknown";

interface Remedy {
  readonly obstacle: Obstacle;
  readonly command: string;
}

/** Enough for every user of a machine; what the kernel sets depends on the memory. */
const MANY_NAME_SPACES = 16_384;

/** What hinders sandboxes on this machine, and the command that mends it: what forbids comes before what is missing. */
export function findRemedy(
  read: (path: string) => string | undefined = readText,
  exists: (path: string) => boolean = existsSync,
  isRoot = process.getuid?.() === 0,
): Remedy {
  const sudo = isRoot ? "" : "sudo ";
  if (read("/proc/sys/user/max_user_namespaces") === "0") {
    return {
      obstacle: "user-namespaces",
      command: `${sudo}sysctl -w user.max_user_namespaces=${MANY_NAME_SPACES}`,
    };
  }
  if (!isRoot && read("/proc/sys/kernel/unprivileged_userns_clone") === "0") {
    return { obstacle: "user-namespaces", command: "sudo sysctl -w kernel.unprivileged_userns_clone=1" };
  }
  if (!isRoot && read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1") {
    return { obstacle: "apparmor", command: "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" };
  }
  if (["/.dockerenv", "/run/.containerenv"].some(exists)) {
    return {
      obstacle: "container",
      command: "start this container with --privileged, or set PROCESSING_HOST_TOOLS=refused",
    };
  }
  return {
    obstacle: findProgram(["bwrap"]) === undefined ? "programs" : "unknown",
    command: `${sudo}${installCommand()}`,
  };
}

/** The command that installs bubblewrap on this system. */
function installCommand(): string {
  const commands = [
    ["apt-get", "apt-get install bubblewrap"],
    ["dnf", "dnf install bubblewrap"],
    ["apk", "apk add bubblewrap"],
    ["pacman", "pacman -S bubblewrap"],
    ["zypper", "zypper install bubblewrap"],
  ] as const;
  return commands.find(([program]) => findProgram([program]) !== undefined)?.[1] ?? "apt-get install bubblewrap";
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // The kernel has no such switch.
    return undefined;
  }
}
