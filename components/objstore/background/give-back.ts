import type { IndexDatabase } from "../store/index-database.ts";
import { takeTurns } from "../store/turns.ts";

/** Pages that one change frees: some milliseconds. */
const STEP_PAGES = 64;
/** Free pages that stay: what is deleted is mostly written again. */
const KEPT_PAGES = 1024;

/**
 * Gives pages of the index that deletes have left free back to the disk, in steps between which others have their turn. Gives back how
 * many. The file itself gets shorter with the next checkpoints. An index that an older release made gives nothing back.
 */
export async function giveBackSpace(index: IndexDatabase, signal: AbortSignal): Promise<number> {
  const countFree = () => index.get<{ freelist_count: number }>("pragma freelist_count")?.freelist_count ?? 0;
  let provided = 0;
  for (let free = countFree(); free > KEPT_PAGES && !signal.aborted;) {
    // Each page is a row: the statement has to be read to its end.
    await index.mutate(() => void index.all(`pragma incremental_vacuum(${STEP_PAGES})`));
    const left = countFree();
    if (left >= free) {
      break;
    }
    provided += free - left;
    free = left;
    await takeTurns();
  }
  return provided;
}
