import { readFileSync, readdirSync } from "node:fs";

export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  /** Its command line; empty for a thread of the kernel. */
  readonly args: string;
}

/**
 * The processes of this machine, as /proc has them: not every machine has `ps`. Those that have ended are left out, also while
 * their parent has not asked how.
 */
export function readProcesses(): readonly ListedProcess[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) {
      return [];
    }
    try {
      // The second field is a name in brackets, which may hold anything (proc(5)).
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if ("ZX".includes(state)) {
        return [];
      }
      const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return [{ pid, parent: Number(parent), args }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}
