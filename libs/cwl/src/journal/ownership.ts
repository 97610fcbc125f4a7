import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { CwlError } from "../errors.ts";

/**
 * Marks a place as worked on by this process and gives the function that takes the mark away. A mark whose process has
 * ended, or that was made before the machine started, counts for nothing.
 */
export function takeOwnership(path: string): () => void {
  const mine = identityOf("self");
  const draft = `${path}.${process.pid}-${performance.now()}`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        // A link is made whole or not at all, and never over something that is there.
        linkSync(draft, path);
        return () => rmSync(path, { force: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST" || attempt > 3) {
          throw error;
        }
      }
      const owner = readMark(path);
      const [pid = ""] = owner.split(" ");
      if (owner !== "" && owner === identityOf(pid)) {
        throw new CwlError("infrastructure", `process ${pid} is working on the run in ${path.replace(/\/owner$/, "")}`);
      }
      removeStale(path, owner, draft);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Takes an old mark away, but not one that somebody put in its place a moment ago. */
function removeStale(path: string, owner: string, draft: string): void {
  const aside = `${draft}-old`;
  try {
    renameSync(path, aside);
  } catch {
    // Somebody else took it away.
    return;
  }
  try {
    if (readMark(aside) !== owner) {
      linkSync(aside, path);
    }
  } finally {
    rmSync(aside, { force: true });
  }
}

function readMark(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Taken away in the meantime.
    return "";
  }
}

/** A process by its number, when it started, and the boot of its machine; empty when there is none. */
function identityOf(pid: string): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${Number.parseInt(stat, 10)} ${started} ${boot}`;
  } catch {
    return "";
  }
}
