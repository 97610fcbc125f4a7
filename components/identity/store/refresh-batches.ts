import type { Queryable } from "./database.ts";
import {
  type RotatedGrant,
  type Rotation,
  type RotationSettings,
  type ShownRefresh,
  rotateRefreshTokens,
} from "./refresh-rotation.ts";

/** Exchanges refresh tokens; undefined where one is not good. */
export interface RefreshRotation {
  readonly rotate: (shown: ShownRefresh, settings: RotationSettings) => Promise<RotatedGrant | undefined>;
}

interface Waiting extends Rotation {
  readonly resolve: (grant: RotatedGrant | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

const MAX_AT_ONCE = 64;
/** Two statements in time share the processor of the database; a second one is worth it when this many wait. */
const WORTH_ANOTHER = 32;
const STATEMENTS_AT_ONCE = 2;

/**
 * Exchanges that come while others are at the database go there together, with one statement and one commit: the way there and back
 * costs a process more than all else about an exchange. One that comes alone waits for nobody but those that came in the same moment.
 */
export function createRefreshRotation(pool: Queryable, startedAt: Date): RefreshRotation {
  const waiting: Waiting[] = [];
  /** Sessions at the database: a statement changes a session once. */
  const busy = new Set<string>();
  let running = 0;
  let isScheduled = false;

  const alone = async (item: Waiting): Promise<void> => {
    try {
      item.resolve((await rotateRefreshTokens(pool, [item], startedAt, "wait"))[0]);
    } catch (error) {
      item.reject(error);
    }
  };
  const takeBatch = (): readonly Waiting[] => {
    const batch: Waiting[] = [];
    for (let index = 0; index < waiting.length && batch.length < MAX_AT_ONCE;) {
      const item = waiting[index] as Waiting;
      if (busy.has(item.shown.sessionId)) {
        index += 1;
      } else {
        busy.add(item.shown.sessionId);
        waiting.splice(index, 1);
        batch.push(item);
      }
    }
    return batch;
  };
  const exchange = async (batch: readonly Waiting[]): Promise<void> => {
    const grants = await rotateRefreshTokens(pool, batch, startedAt, "skip").catch(() => []);
    batch.forEach((item, index) => grants[index] !== undefined && item.resolve(grants[index]));
    running -= 1;
    const left = batch.filter((_, index) => grants[index] === undefined);
    const free = (items: readonly Waiting[]) => items.forEach(({ shown }) => busy.delete(shown.sessionId));
    free(batch.filter((item) => !left.includes(item)));
    send();
    // What was left out, or failed with the others, is decided by itself: who waits for a lock keeps nobody else waiting.
    await Promise.all(left.map((item) => alone(item).finally(() => free([item]))));
    if (left.length > 0) {
      send();
    }
  };
  const send = (): void => {
    while (running === 0 || (running < STATEMENTS_AT_ONCE && waiting.length >= WORTH_ANOTHER)) {
      const batch = takeBatch();
      if (batch.length === 0) {
        return;
      }
      running += 1;
      void exchange(batch);
    }
  };
  return {
    rotate: (shown, settings) =>
      new Promise((resolve, reject) => {
        waiting.push({ shown, settings, resolve, reject });
        if (!isScheduled) {
          isScheduled = true;
          // Requests that were read in the same round of the event loop come first.
          setImmediate(() => {
            isScheduled = false;
            send();
          });
        }
      }),
  };
}
