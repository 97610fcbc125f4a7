import type pg from "pg";

import { inTransaction } from "../transaction.ts";
import { COMMON_PART } from "./part-map.ts";

/** Records of one transaction: few enough for writers of the same ids to wait a moment only. */
const BATCH_RECORDS = 500;

/** The part that the record `r` belongs into. */
const DESTINATION = `coalesce((
  select p.number from part p where p.collection = r.collection and not p.is_retired and r.kind <> 'c'
    and r.at >= p.from_at and r.at < p.to_at and lower(r.span) >= p.starts and upper(r.span) < p.ends limit 1
), ${COMMON_PART})`;

/** Records to look at: those of a collection and an interval that are in a part. */
export interface Move {
  readonly collection: number;
  readonly source: number;
  /** The last record that was looked at, in the order of time; the start of the interval at first. */
  readonly after: { readonly at: string; readonly n: string };
  readonly to: string;
}

/** What a batch has done. */
export interface Moved {
  /** Parts that records went to. */
  readonly targets: readonly number[];
  /** What is left to do. */
  readonly rest: Move;
}

/**
 * Looks at the next records, and moves those that belong elsewhere: in a transaction each time. A record is in one part at every moment, and
 * keeps its number and its version. One that somebody writes just now is left for later.
 * @returns undefined where nothing was left to look at
 */
export function moveBatch(pool: pg.Pool, { collection, source, after, to }: Move): Promise<Moved | undefined> {
  return inTransaction(pool, async (client) => {
    // Neither the collection nor its parts go away meanwhile.
    await client.query("select 1 from collection where key = $1 for key share", [collection]);
    await client.query("select 1 from part where collection = $1 order by number for key share", [collection]);
    // Limited before anything else is asked of them: so they are the next of an index, and not all that are left, sorted.
    const { rows: found } = await client.query<{ id: string; at: string; n: string; moves: boolean }>(
      `select r.id, r.at::text as at, r.n, ${DESTINATION} <> r.part as moves from (
         select * from record where part = ${source} and collection = $1 and (at, n) > ($2, $3) and at < $4 order by at, n limit ${BATCH_RECORDS}
       ) r order by r.at, r.n`,
      [collection, after.at, after.n, to],
    );
    const last = found.at(-1);
    if (last === undefined) {
      return undefined;
    }
    const ids = found.filter(({ moves }) => moves).map(({ id }) => id);
    return {
      targets: ids.length === 0 ? [] : await moveRecords(client, { collection, source, ids }),
      rest: { collection, source, after: { at: last.at, n: last.n }, to },
    };
  });
}

/** @returns parts that they went to */
async function moveRecords(
  client: pg.PoolClient,
  { collection, source, ids }: Pick<Move, "collection" | "source"> & { readonly ids: readonly string[] },
): Promise<readonly number[]> {
  // Keys are locked in the order of the ids, as by every writer.
  const { rows: keys } = await client.query<{ n: string }>(
    `select n from record_key where id = any($1::text[]) and collection = $2 and not is_collection and part = ${source}
     order by id for update skip locked`,
    [ids, collection],
  );
  const { rows } = await client.query<{ part: number }>(
    `with moved as (
       update record r set part = ${DESTINATION} where r.part = ${source} and r.n = any($1::bigint[]) returning r.part, r.id, r.collection
     ), noted as (
       update record_key k set part = m.part from moved m
       where k.id = m.id and k.collection = m.collection and not k.is_collection returning k.part
     )
     select distinct part from noted`,
    [keys.map(({ n }) => n)],
  );
  return rows.map(({ part }) => part);
}
