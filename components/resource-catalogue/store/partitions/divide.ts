import type pg from "pg";

import { type NewPart, createParts, tableOf } from "./create-parts.ts";
import { COMMON_PART } from "./part-map.ts";

/** Parts of the catalogue at most, as every part costs a search that cannot leave it out: in a larger catalogue parts are larger. */
const MAX_PARTS = 50;
/** Parts that a full one is divided into: records that come in no order of time move only once in four times as many. */
const PIECES = 4;
/** What a record takes in its table, about; long documents are stored beside it. */
const RECORD_BYTES = 2000;
/** Of so many records it is looked at how long they last; nearly all spans are to fit. */
const SAMPLE = 10_000;

/** Times between which there is no part of a collection. Texts of PostgreSQL's. */
interface Gap {
  readonly collection: number;
  readonly from: string;
  readonly to: string;
}

/**
 * Makes the parts that are missing: for times of a collection of which the common part holds many records, and in place of parts that have
 * become too large.
 * @param size records of a full part
 */
export async function divide(client: pg.ClientBase, size: number): Promise<void> {
  const { rows: parts } = await client.query<{ number: number; collection: number | null; estimate: number }>(
    // PostgreSQL hears of records that were written a moment later than their table grows.
    `select p.number, p.collection,
       greatest(coalesce(s.n_live_tup, 0), pg_relation_size(('record_' || p.number)::regclass) / ${RECORD_BYTES})::float8 as estimate
     from part p left join pg_stat_user_tables s on s.schemaname = current_schema() and s.relname = 'record_' || p.number
     where p.number = ${COMMON_PART} or (p.collection is not null and not p.is_retired) order by p.number`,
  );
  const full = Math.max(size, Math.ceil(parts.reduce((sum, { estimate }) => sum + estimate, 0) / MAX_PARTS));
  for (const { number, collection, estimate } of parts) {
    if (collection === null) {
      if (mayReach(estimate, full / 2)) {
        await divideCommon(client, full);
      }
    } else if (mayReach(estimate, full)) {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::float8 as count from ${tableOf(number)}`,
      );
      const count = rows[0]?.count ?? 0;
      if (count > full) {
        await dividePart(client, number, collection, count);
      }
    }
  }
}

/** Whether it is worth counting: the estimate may be off, and is 0 where nothing is known. */
const mayReach = (estimate: number, count: number): boolean => estimate === 0 || estimate > count * 0.8;

async function divideCommon(client: pg.ClientBase, full: number): Promise<void> {
  const { rows } = await client.query<{ collection: number }>(
    `select collection from ${tableOf(COMMON_PART)} group by collection having count(*) >= $1 order by collection`,
    [full / 2],
  );
  for (const { collection } of rows) {
    for (const gap of await readGaps(client, collection)) {
      await fillGap(client, gap, full);
    }
  }
}

async function readGaps(client: pg.ClientBase, collection: number): Promise<readonly Gap[]> {
  const { rows } = await client.query<{ from_at: string; to_at: string }>(
    `select from_at::text, to_at::text from part where collection = $1 and not is_retired order by part.from_at`,
    [collection],
  );
  const starts = ["-infinity", ...rows.map(({ to_at: to }) => to)];
  const ends = [...rows.map(({ from_at: from }) => from), "infinity"];
  return starts
    .map((from, index) => ({ collection, from, to: ends[index] as string }))
    .filter(({ from, to }) => from !== to);
}

async function fillGap(client: pg.ClientBase, gap: Gap, full: number): Promise<void> {
  // Of records that a part is made for: what a collection says of itself may be of quite another time.
  const end = (direction: "asc" | "desc"): string =>
    `(select date_trunc('second', at) from record where ${IN_INTERVAL} and kind <> 'c' order by at ${direction} limit 1)`;
  const { rows } = await client.query<{ count: number; first: string; last: string }>(
    `select (select count(*)::float8 from record where ${IN_INTERVAL}) as count,
       ${end("asc")}::text as first, (${end("desc")} + interval '1 second')::text as last`,
    [COMMON_PART, gap.collection, gap.from, gap.to],
  );
  const [{ count, first, last } = { count: 0, first: "", last: "" }] = rows;
  if (count < full / 2) {
    return;
  }
  // What is open stays so: of the time before and after, many records may come yet, which get parts of their own.
  const from = gap.from === "-infinity" ? first : gap.from;
  const to = gap.to === "infinity" ? last : gap.to;
  const interval = { part: COMMON_PART, collection: gap.collection, from, to };
  const parts = await planParts(client, interval, count, Math.ceil(count / full));
  await transact(client, () => createParts(client, gap.collection, parts));
}

/** Makes parts in place of one, which is retired; without effect where all of its records are of one time. */
async function dividePart(client: pg.ClientBase, part: number, collection: number, count: number): Promise<void> {
  const { rows } = await client.query<{ from: string; to: string }>(
    `select from_at::text as from, to_at::text as to from part where number = $1`,
    [part],
  );
  const [{ from, to } = { from: "", to: "" }] = rows;
  const parts = await planParts(client, { part, collection, from, to }, count, PIECES);
  if (parts.length > 1) {
    await transact(client, async () => {
      await client.query("update part set is_retired = true where number = $1", [part]);
      await createParts(client, collection, parts);
    });
  }
}

/** Times of a collection, and the part that its records of these times are in now. Both are finite, and in whole seconds. */
interface Interval {
  readonly part: number;
  readonly collection: number;
  readonly from: string;
  readonly to: string;
}

const IN_INTERVAL = "part = $1 and collection = $2 and at > '-infinity' and at >= $3 and at < $4";

/** Parts of about the same number of records; fewer than wanted where many are of the same second. */
async function planParts(
  client: pg.ClientBase,
  { part, collection, from, to }: Interval,
  count: number,
  pieces: number,
): Promise<readonly NewPart[]> {
  const values = [part, collection, from, to];
  const { rows: cuts } = await client.query<{ at: string }>(
    `select distinct date_trunc('second', at) as cut, date_trunc('second', at)::text as at
     from (select at, row_number() over (order by at) as place from record where ${IN_INTERVAL}) x
     where place % $5 = 0 and date_trunc('second', at) > $3 order by cut limit ${pieces - 1}`,
    [...values, Math.ceil(count / pieces)],
  );
  const { rows: lengths } = await client.query<{ margin: string | null }>(
    `select (percentile_disc(0.99) within group (order by length))::text as margin from (
       select upper(span) - lower(span) as length from record where ${IN_INTERVAL} and isfinite(upper(span)) limit ${SAMPLE}
     ) x`,
    values,
  );
  const edges = [from, ...cuts.map(({ at }) => at), to];
  const margin = lengths[0]?.margin ?? "0";
  return edges.slice(1).map((toAt, index) => ({ fromAt: edges[index] as string, toAt, margin }));
}

/** Works in a transaction that gives up where it would keep others waiting behind it. */
async function transact(client: pg.ClientBase, work: () => Promise<void>): Promise<void> {
  await client.query("begin");
  try {
    await client.query("set local lock_timeout = '5s'");
    await work();
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
