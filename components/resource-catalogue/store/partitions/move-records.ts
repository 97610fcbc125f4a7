import type pg from "pg";

import { inTransaction } from "../transaction.ts";
import { COMMON_PART } from "./part-map.ts";

/** Records of one transaction: few enough for writers of the same ids to wait a moment only. */
const BATCH_RECORDS = 500;

/** Whether the record `r` belongs into the part `p`. */
const FITS = `p.collection = r.collection and not p.is_retired and r.kind <> 'c'
  and r.at >= p.from_at and r.at < p.to_at and lower(r.span) >= p.starts and upper(r.span) < p.ends`;

export interface Move {
  readonly collection: number;
  /** Part that records are taken from. */
  readonly source: number;
  /** Only those that belong into this part; all when left out. */
  readonly target?: number;
}

/** The last record that was looked at, in the order of time. */
export interface MoveCursor {
  readonly at: string;
  readonly n: string;
}

export const MOVE_START: MoveCursor = { at: "-infinity", n: "-1" };

/**
 * Moves the next records to where they belong: of a transaction each time. A record is in one part at every moment, and keeps its number and
 * its version. One that somebody writes just now is left for later.
 * @returns where to go on; undefined at the end
 */
export function moveBatch(
  pool: pg.Pool,
  { collection, source, target }: Move,
  after: MoveCursor,
): Promise<{ readonly targets: readonly number[]; readonly next: MoveCursor } | undefined> {
  return inTransaction(pool, async (client) => {
    // Neither the collection nor its parts go away meanwhile.
    await client.query("select 1 from collection where key = $1 for key share", [collection]);
    await client.query("select 1 from part where collection = $1 order by number for key share", [collection]);
    const { rows: found } = await client.query<{ id: string; at: string; n: string }>(
      `select r.id, r.at::text as at, r.n from record r where r.part = ${source} and r.collection = $1 and (r.at, r.n) > ($2, $3)
       ${target === undefined ? "" : `and exists (select 1 from part p where p.number = ${target} and ${FITS}) and r.at < (select to_at from part where number = ${target})`}
       order by r.collection, r.at, r.n limit ${BATCH_RECORDS}`,
      [collection, after.at, after.n],
    );
    const last = found.at(-1);
    if (last === undefined) {
      return undefined;
    }
    // Keys are locked in the order of the ids, as by every writer.
    const { rows: keys } = await client.query<{ n: string }>(
      `select n from record_key where id = any($1::text[]) and collection = $2 and not is_collection and part = ${source}
       order by id for update skip locked`,
      [found.map(({ id }) => id), collection],
    );
    const { rows: targets } = await client.query<{ part: number }>(
      `with moved as (
         update record r set part = coalesce((select p.number from part p where ${FITS} limit 1), ${COMMON_PART})
         where r.part = ${source} and r.n = any($1::bigint[]) returning r.part, r.id, r.collection
       ), noted as (
         update record_key k set part = m.part from moved m
         where k.id = m.id and k.collection = m.collection and not k.is_collection returning k.part
       )
       select distinct part from noted`,
      [keys.map(({ n }) => n)],
    );
    return { targets: targets.map(({ part }) => part), next: { at: last.at, n: last.n } };
  });
}
