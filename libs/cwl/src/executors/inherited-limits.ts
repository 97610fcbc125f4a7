import { readFileSync } from "node:fs";

/** What engines ask for at most; more is refused by some systems even to who may have it. */
const most = { nofile: 1_048_576, nproc: 32_768 } as const;
const titles = { nofile: "Max open files", nproc: "Max processes" } as const;

/**
 * Options that give a container this process's own limits of files and processes: podman asks for more by default, and where
 * that is not allowed (inside of containers) nothing starts.
 */
export function inheritedLimits(limits = readLimits()): readonly string[] {
  return (["nofile", "nproc"] as const).flatMap((name) => {
    const [, hard = ""] = new RegExp(`^${titles[name]} +\\S+ +(\\S+)`, "m").exec(limits) ?? [];
    const value = hard === "unlimited" ? most[name] : Math.min(Number(hard), most[name]);
    return value > 0 ? [`--ulimit=${name}=${value}:${value}`] : [];
  });
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "latin1");
  } catch {
    // No Linux: its engines run containers in a machine of their own.
    return "";
  }
}
