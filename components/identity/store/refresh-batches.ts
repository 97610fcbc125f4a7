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

const MOST_AT_ONCE = 64;
const STATEMENTS_AT_ONCE = 2;

/**
 * Exchanges that come while others are at the database go there together, with one statement and one commit: the way there and back
 * costs a process more than all else about an exchange. One that comes alone waits for nobody.
 */
export function createRefreshRotation(pool: Queryable, startedAt: Date): RefreshRotation {
  const waiting: Waiting[] = [];
  /** Sessions at the database: a statement changes a session once. */
  const busy = new Set<string>();
  let running = 0;

  const alone = async (item: Waiting): Promise<void> => {
    try {
      item.resolve((await rotateRefreshTokens(pool, [item], startedAt, "wait"))[0]);
    } catch (error) {
      item.reject(error);
    }
  };
  const together = async (batch: readonly Waiting[]): Promise<void> => {
    // What was left out, or failed with the others, is decided by itself.
    const grants = await rotateRefreshTokens(pool, batch, startedAt, "skip").catch(() => []);
    batch.forEach((item, index) => grants[index] !== undefined && item.resolve(grants[index]));
    await Promise.all(batch.filter((_, index) => grants[index] === undefined).map(alone));
  };
  const takeBatch = (): readonly Waiting[] => {
    const batch: Waiting[] = [];
    for (let index = 0; index < waiting.length && batch.length < MOST_AT_ONCE;) {
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
  const send = (): void => {
    while (running < STATEMENTS_AT_ONCE) {
      const batch = takeBatch();
      const [first] = batch;
      if (first === undefined) {
        return;
      }
      running += 1;
      void (batch.length === 1 ? alone(first) : together(batch)).finally(() => {
        running -= 1;
        batch.forEach(({ shown }) => busy.delete(shown.sessionId));
        send();
      });
    }
  };
  return {
    rotate: (shown, settings) =>
      new Promise((resolve, reject) => {
        waiting.push({ shown, settings, resolve, reject });
        send();
      }),
  };
}
