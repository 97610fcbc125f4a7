import { readFileSync, writeFileSync } from "node:fs";
import { listDescendants, listFamily } from "./kill-tree.ts";

/** Pauses between looks, by how much of the limit is used: a tool that could not reach it in time is left alone. */
const pauses = [
  { above: 0.75, ms: 50 },
  { above: 0.25, ms: 150 },
  { above: 0, ms: 400 },
] as const;
const firstPauseMs = 50;
/** When the machine itself runs out of memory, it is a tool that the system should end, and not the platform. */
const firstToGo = "600";

/**
 * Watches what a command and everything it has started hold in memory, and says so once when it is more than the limit. Linux
 * limits that need no rights (`ulimit -v`) count addresses, of which many run times reserve more than they use.
 * @param limit bytes; 0 for none
 * @returns ends the watch
 */
export function guardMemory(leader: number | undefined, limit: number, onExceeded: () => void): () => void {
  if (leader === undefined) {
    return () => {};
  }
  try {
    // What it starts inherits it.
    writeFileSync(`/proc/${leader}/oom_score_adj`, firstToGo);
  } catch {
    // It has ended already, or this system has no such file.
  }
  if (limit <= 0) {
    return () => {};
  }
  let timer: NodeJS.Timeout | undefined;
  let isFirst = true;
  const look = (): void => {
    // A look at every process there is takes milliseconds: too much for the many tools that are done by the next one.
    const family = (isFirst ? listDescendants(leader) : undefined) ?? listFamily(leader);
    isFirst = false;
    const used = memoryOf(family, limit);
    if (used > limit) {
      onExceeded();
      return;
    }
    timer = setTimeout(look, pauses.find(({ above }) => used >= above * limit)?.ms);
  };
  timer = setTimeout(look, firstPauseMs);
  return () => clearTimeout(timer);
}

/** Bytes that these processes hold; the exact number, which costs more, only when a rough one is above the limit. */
function memoryOf(family: readonly number[], limit: number): number {
  const rough = sum(family, "status", /^VmRSS:\s+(\d+) kB$/m);
  // Pages that several processes share count once.
  return rough > limit && family.length > 1 ? sum(family, "smaps_rollup", /^Pss:\s+(\d+) kB$/m) || rough : rough;
}

function sum(family: readonly number[], file: string, pattern: RegExp): number {
  let kibibytes = 0;
  for (const pid of family) {
    try {
      kibibytes += Number(pattern.exec(readFileSync(`/proc/${pid}/${file}`, "latin1"))?.[1] ?? 0);
    } catch {
      // Ended since it was listed.
    }
  }
  return kibibytes * 1024;
}
