import type { IndexDatabase } from "../store/index/index-database.ts";
import { takeTurns } from "../store/turns.ts";

/** Pages that one transaction frees: a few milliseconds. */
const STEP_PAGES = 64;
/** Free pages that stay in the file, since new objects mostly take the place of deleted ones. */
const KEPT_PAGES = 1024;

/**
 * Returns free pages of the index to the file system, in steps between which other requests run. The file gets shorter with the next
 * checkpoints. An index that a release without incremental vacuum made stays as it is.
 * @returns number of freed pages
 */
export async function shrinkIndex(index: IndexDatabase, signal: AbortSignal): Promise<number> {
  const countFree = () => index.get<{ freelist_count: number }>("pragma freelist_count")?.freelist_count ?? 0;
  let freedPages = 0;
  for (let free = countFree(); free > KEPT_PAGES && !signal.aborted;) {
    // Each page is a row: the statement has to be read to its end.
    await index.mutate(() => void index.all(`pragma incremental_vacuum(${STEP_PAGES})`));
    const left = countFree();
    if (left >= free) {
      break;
    }
    freedPages += free - left;
    free = left;
    await takeTurns();
  }
  return freedPages;
}
