import type pg from "pg";

import type { Reader } from "../access/reader.ts";
import { SqlParameters } from "../query/sql.ts";

/** A place in the feed: after the `i`th id of a statement's changes. */
export interface FeedPosition {
  readonly tx: string;
  readonly n: string;
  readonly i: number;
}

export const FEED_START: FeedPosition = { tx: "0", n: "0", i: 0 };

export interface Change {
  readonly position: FeedPosition;
  readonly operation: "created" | "updated" | "deleted";
  readonly collection: string;
  readonly workspace: string | null;
  readonly isCollection: boolean;
  /** Of the record; of a collection that was deleted with everything in it, of the collection. */
  readonly id: string;
  readonly madeAt: Date;
}

const OPERATIONS = { c: "created", u: "updated", d: "deleted" } as const;

interface ReadOptions {
  readonly reader: Reader;
  readonly after: FeedPosition;
  readonly limit: number;
  readonly collections?: readonly string[] | undefined;
}

/**
 * Changes in their order, as far as the reader may see them. Only those of transactions before which none is open any more: what comes
 * later comes after them.
 */
export async function readChanges(pool: pg.Pool, options: ReadOptions): Promise<Change[]> {
  const { reader, after, limit, collections } = options;
  const parameters = new SqlParameters();
  const [tx, n] = [parameters.add(after.tx, "xid8"), parameters.add(after.n, "bigint")];
  const conditions = [
    "c.tx < pg_snapshot_xmin(pg_current_snapshot())",
    `(c.tx, c.n) >= (${tx}, ${n})`,
    `((c.tx, c.n) > (${tx}, ${n}) or x.i > ${parameters.add(after.i, "int")})`,
    ...(collections === undefined ? [] : [`c.collection = any(${parameters.add(collections, "text[]")})`]),
    ...(reader.only === undefined
      ? []
      : [`coalesce(now.workspace, c.workspace) = ${parameters.add(reader.only, "text")}`]),
    ...(reader.isOperator
      ? reader.isAnonymous === true
        ? ["(coalesce(now.is_public, c.is_public) or coalesce(now.workspace, c.workspace) is null)"]
        : []
      : [
          `(coalesce(now.is_public, c.is_public) or coalesce(now.workspace, c.workspace) = any(${parameters.add([...reader.workspaces.keys()], "text[]")}))`,
        ]),
  ];
  const { rows } = await pool.query<{
    tx: string;
    n: string;
    i: number;
    operation: "c" | "u" | "d";
    collection: string;
    workspace: string | null;
    is_collection: boolean;
    id: string;
    made_at: Date;
  }>(
    `select c.tx::text, c.n, x.i::int, c.operation, c.collection, c.workspace, c.is_collection, x.id, c.made_at
     from change c left join collection now on now.id = c.collection
     cross join lateral unnest(c.ids) with ordinality as x(id, i)
     where ${conditions.join(" and ")} order by c.tx, c.n, x.i limit ${limit}`,
    parameters.values,
  );
  return rows.map((row) => ({
    position: { tx: row.tx, n: row.n, i: row.i },
    operation: OPERATIONS[row.operation],
    collection: row.collection,
    workspace: row.workspace,
    isCollection: row.is_collection,
    id: row.id,
    madeAt: row.made_at,
  }));
}

/** Whether there are changes that are not read yet, since an older transaction is still open. */
export async function hasHeldBackChanges(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ held: boolean }>(
    "select exists (select 1 from change where tx >= pg_snapshot_xmin(pg_current_snapshot())) as held",
  );
  return rows[0]?.held ?? true;
}

/** The end of the feed as it is now. */
export async function readFeedEnd(pool: pg.Pool): Promise<FeedPosition> {
  const { rows } = await pool.query<{ tx: string }>("select pg_snapshot_xmin(pg_current_snapshot())::text as tx");
  return { tx: rows[0]?.tx ?? "0", n: "0", i: 0 };
}

/** Whether everything after a position is still there. */
export async function isRetained(pool: pg.Pool, { tx, n }: FeedPosition): Promise<boolean> {
  const { rows } = await pool.query<{ retained: boolean }>(
    "select (removed_tx, removed_n) <= ($1::xid8, $2::bigint) as retained from feed_state",
    [tx, n],
  );
  return rows[0]?.retained ?? true;
}

/** Removes changes that are older than some days. */
export async function removeOldChanges(pool: pg.Pool, days: number): Promise<void> {
  await pool.query(
    `with gone as (
       delete from change where made_at < now() - make_interval(days => $1) and tx < pg_snapshot_xmin(pg_current_snapshot())
       returning tx, n
     ), last as (select tx, n from gone order by tx desc, n desc limit 1)
     update feed_state set removed_tx = last.tx, removed_n = last.n from last`,
    [days],
  );
}
