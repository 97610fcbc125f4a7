import { setTimeout as sleep } from "node:timers/promises";

import type pg from "pg";

import { type BackgroundWork, startBackgroundWork } from "../background-work.ts";
import { tableOf } from "./create-parts.ts";
import { divide } from "./divide.ts";
import { type Move, type Moved, moveBatch } from "./move-records.ts";
import { COMMON_PART, type PartMap } from "./part-map.ts";
import { dropEmptyParts } from "./retire.ts";

const INTERVAL_MS = 60_000;
const DELAY_MS = 5000;
/** How long records are moved before it is looked again what has become too large meanwhile. */
const ROUND_MS = 60_000;

interface Options {
  readonly pool: pg.Pool;
  readonly parts: PartMap;
  /** Records of a full part. */
  readonly size: number;
  /** A part was made: it has the indexes of the moment. */
  readonly onDivided: () => void;
  readonly onError: (error: Error) => void;
}

/** Divides large collections by time, and moves records to their parts while they are read and written: by one replica at a time. */
export function startPartitioner({ pool, parts, size, onDivided, onError }: Options): BackgroundWork {
  return startBackgroundWork({
    pool,
    lock: "catalogue partitions",
    intervalMs: INTERVAL_MS,
    delayMs: DELAY_MS,
    work: async (client, isClosed) => {
      await divide(client, size);
      await parts.refresh();
      onDivided();
      const { changed, isFinished } = await moveFor(ROUND_MS, pool, await readMoves(client), isClosed);
      for (const part of isClosed() ? [] : changed) {
        // Searches are planned by what there is; the room that was left is used again.
        await client.query(`vacuum (analyze) ${tableOf(part)}`);
      }
      if (!isClosed()) {
        await dropEmptyParts(client);
        await parts.refresh();
      }
      return !isFinished;
    },
    onError,
  });
}

/** What may be elsewhere than it belongs: in parts that are retired, and in the common part of times that another part is for. */
async function readMoves(client: pg.ClientBase): Promise<readonly Move[]> {
  const { rows } = await client.query<{ number: number; collection: number; from: string; to: string }>(
    `select case when is_retired then number else ${COMMON_PART} end as number, collection,
       case when is_retired then '-infinity' else from_at::text end as from, case when is_retired then 'infinity' else to_at::text end as to
     from part where collection is not null order by is_retired desc, part.number`,
  );
  return rows.map(({ number, collection, from, to }) => ({
    collection,
    source: number,
    after: { at: from, n: "-1" },
    to,
  }));
}

interface Round {
  /** Parts that records have come into or gone from. */
  readonly changed: ReadonlySet<number>;
  readonly isFinished: boolean;
}

/** Makes moves one after the other until the time is over. */
async function moveFor(
  milliseconds: number,
  pool: pg.Pool,
  moves: readonly Move[],
  isClosed: () => boolean,
): Promise<Round> {
  const end = performance.now() + milliseconds;
  const changed = new Set<number>();
  for (const move of moves) {
    let rest: Move | undefined = move;
    while (rest !== undefined) {
      const started = performance.now();
      if (started > end || isClosed()) {
        return { changed, isFinished: false };
      }
      const moved: Moved | undefined = await moveBatch(pool, rest);
      if (moved !== undefined && moved.targets.length > 0) {
        [move.source, ...moved.targets].forEach((part) => changed.add(part));
      }
      rest = moved?.rest;
      // Half of the time is left to everybody else.
      await sleep(performance.now() - started);
    }
  }
  return { changed, isFinished: true };
}
