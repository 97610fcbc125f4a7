import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";

import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";

import type { NewRecord } from "../model/record.ts";
import {
  COLUMNS,
  type CopyLine,
  OWN_COLUMNS,
  type Placement,
  type PreparedRecord,
  isCopyLine,
  prepareRecordCells,
  toCells,
} from "./record-columns.ts";
import { COPY_HEADER, COPY_TRAILER, writePlacement } from "./copy-binary.ts";
import { CopyLines, toCopyLines } from "./copy-lines.ts";
import { writeOne } from "./held-collections.ts";
import { inTransactionBetweenLoads, lockForLoading } from "./load-lock.ts";
import type { Route } from "./partitions/part-map.ts";
import { inTransaction } from "./transaction.ts";
import { type LockedKey, type WriteMode, keyOf, lockKeys, moveKeys, removeOld } from "./record-keys.ts";

export interface WriteOptions {
  readonly mode: WriteMode;
  /** Key of the collection that the records belong to. */
  readonly collection: number;
  /** Where records go by their time; into the common part when left out. */
  readonly route?: Route;
  /** Only where the stored record has this version; for one record. */
  readonly expectedVersion?: { readonly n: string; readonly version: number };
  /** Aborts when the client goes: then a load of the collection is not waited for any more. */
  readonly signal?: AbortSignal;
}

/** What became of a record, in the order of those given. */
export interface Written {
  readonly n: string;
  readonly version: number;
  readonly isNew: boolean;
  readonly at: Date;
}

/** Why nothing was written. */
export class WriteConflict extends Error {
  override readonly name = "WriteConflict";
  readonly reason: "exists" | "missing" | "changed" | "no-collection";
  /** Ids at fault, some of them. */
  readonly ids: readonly string[];

  constructor(reason: WriteConflict["reason"], ids: readonly string[]) {
    super(`${reason}: ${ids.join(", ")}`);
    this.reason = reason;
    this.ids = ids;
  }
}

/** Rows that are sent one by one rather than copied. */
const MAX_SINGLE_ROWS = 4;
/** What is sent to PostgreSQL at once. */
const CHUNK_BYTES = 128 * 1024;

/**
 * Writes records of one collection: all of them or, when this throws, none. Ids must not occur twice.
 * Writers of the same ids wait for each other in the order of the ids, so that none waits for ever.
 * @throws {WriteConflict}
 * @throws {LoadInProgress}
 */
export function writeRecords(pool: pg.Pool, records: readonly NewRecord[], options: WriteOptions): Promise<Written[]> {
  return writePrepared(pool, records.map(prepareRecordCells), options);
}

/** The same of records that were made ready before. */
export function writePrepared(
  pool: pg.Pool,
  records: readonly PreparedRecord[],
  options: WriteOptions,
): Promise<Written[]> {
  const [only] = records;
  if (only !== undefined && records.length === 1 && options.mode === "insert" && !isCopyLine(only.cells)) {
    return writeOne(pool, options.collection, async () => [await insertOne(pool, only, options.collection)]);
  }
  const write = async (client: pg.PoolClient): Promise<Written[]> => {
    if (records.length > 1) {
      await lockForLoading(client, options.collection, "shared");
    }
    return writeInTransaction(client, records, options);
  };
  return records.length === 1
    ? writeOne(pool, options.collection, () => inTransaction(pool, write))
    : inTransactionBetweenLoads(pool, write, { signal: options.signal });
}

const INSERT_ONE = `/* prepared: insert-one */
  with owner as (select id, workspace, is_public from collection where key = $2 for key share),
  key as (
    insert into record_key (id, collection, is_collection, part)
    select $1, $2, $3, 0 from owner on conflict do nothing returning part, n
  ),
  stored as (
    insert into record (${COLUMNS.join(", ")})
    select key.part, key.n, 1, $2, $4, $4, ${OWN_COLUMNS.map((_, index) => `$${index + 5}`).join(", ")} from key
    returning n
  ),
  noted as (
    insert into change (operation, collection, workspace, is_public, is_collection, ids)
    select 'c', owner.id, owner.workspace, owner.is_public, $3, array[$1::text] from owner, key
  )
  select (select count(*)::int from owner) as owners, (select n from stored) as n`;

/** Writes one new record in one statement, which is a transaction of its own. */
export async function insertOne(
  pool: pg.Pool,
  { id, isCollection, cells }: PreparedRecord,
  collection: number,
): Promise<Written> {
  const at = new Date();
  const { rows } = await pool.query<{ owners: number; n: string | null }>(INSERT_ONE, [
    id,
    collection,
    isCollection,
    at.toISOString(),
    ...(cells as readonly unknown[]),
  ]);
  const [row] = rows;
  if (row === undefined || row.owners === 0) {
    throw new WriteConflict("no-collection", []);
  }
  if (row.n === null) {
    throw new WriteConflict("exists", [id]);
  }
  return { n: row.n, version: 1, isNew: true, at };
}

/** The same inside a transaction of the caller's. */
export async function writeInTransaction(
  client: pg.PoolClient,
  records: readonly PreparedRecord[],
  { mode, collection, route, expectedVersion }: WriteOptions,
): Promise<Written[]> {
  const owner = await lockCollection(client, collection);
  const keys = await lockKeys(client, { records, collection, mode, route });
  const existing = [...keys.values()].filter(({ isNew }) => !isNew);
  if (keys.size < records.length) {
    const others = records.filter((record) => !keys.has(keyOf(record)));
    throw new WriteConflict(
      mode === "insert" ? "exists" : "missing",
      others.slice(0, 10).map(({ id }) => id),
    );
  }
  const before = await removeOld(client, existing);
  await moveKeys(client, collection, existing);
  if (expectedVersion !== undefined) {
    const [stored] = existing;
    if (
      stored === undefined ||
      stored.n !== expectedVersion.n ||
      before.get(stored.n)?.version !== expectedVersion.version
    ) {
      throw new WriteConflict(
        "changed",
        records.map(({ id }) => id),
      );
    }
  }
  const at = new Date();
  const now = at.toISOString();
  const written = records.map(
    (record): Written & { readonly record: PreparedRecord; readonly placement: Placement } => {
      const { target, n, isNew } = keys.get(keyOf(record)) as LockedKey;
      const old = before.get(n);
      const version = (old?.version ?? 0) + 1;
      const placement = { part: target, n, version, collection, madeAt: old?.madeAt ?? now, changedAt: now };
      return { n, version, isNew, at, record, placement };
    },
  );
  await insertRows(client, written);
  await noteChanges(client, owner, records, (index) => (written[index] as Written).isNew);
  return written.map(({ n, version, isNew }) => ({ n, version, isNew, at }));
}

/** The collection as it is told to those who follow changes; it cannot be deleted until the transaction ends. */
export interface Owner {
  readonly id: string;
  readonly workspace: string | null;
  readonly is_public: boolean;
}

export async function lockCollection(client: pg.PoolClient, key: number): Promise<Owner> {
  const { rows } = await client.query<Owner>(
    "/* prepared: lock-collection */ select id, workspace, is_public from collection where key = $1 for key share",
    [key],
  );
  if (rows[0] === undefined) {
    throw new WriteConflict("no-collection", []);
  }
  return rows[0];
}

interface Row {
  readonly record: PreparedRecord;
  readonly placement: Placement;
}

async function insertRows(client: pg.PoolClient, rows: readonly Row[]): Promise<void> {
  if (rows.length > MAX_SINGLE_ROWS || rows.some(({ record }) => isCopyLine(record.cells))) {
    const stream = client.query(copyFrom(`copy record (${COLUMNS.join(", ")}) from stdin (format binary)`));
    await pipeline(Readable.from(toChunks(rows, toLines(rows))), stream);
    return;
  }
  for (const { record, placement } of rows) {
    await client.query(
      `/* prepared: insert-record */ insert into record (${COLUMNS.join(", ")}) values (${COLUMNS.map((_, index) => `$${index + 1}`).join(", ")})`,
      [...toCells(placement), ...(record.cells as readonly unknown[])],
    );
  }
}

/** The rows as lines of COPY, most of which a thread has made ready. */
function toLines(rows: readonly Row[]): readonly CopyLine[] {
  const gathered = new CopyLines(0);
  for (const { record } of rows) {
    if (!isCopyLine(record.cells)) {
      gathered.add({ id: record.id, cells: record.cells });
    }
  }
  const made = toCopyLines(gathered.finish()).values();
  return rows.map(({ record: { cells } }) => (isCopyLine(cells) ? cells : (made.next().value as CopyLine)));
}

/** Writes placements into the lines, and cuts these into pieces that are sent at once; a long line is a piece of its own. */
function* toChunks(rows: readonly Row[], lines: readonly CopyLine[]): Generator<Buffer> {
  let piece: CopyLine | undefined;
  yield COPY_HEADER;
  for (const [index, line] of lines.entries()) {
    writePlacement(line.bytes, line.from, (rows[index] as Row).placement);
    const isNext = piece?.bytes === line.bytes && piece.to === line.from;
    if (piece !== undefined && isNext && line.to - piece.from <= CHUNK_BYTES) {
      piece = { ...piece, to: line.to };
    } else {
      if (piece !== undefined) {
        yield piece.bytes.subarray(piece.from, piece.to);
      }
      piece = line;
    }
  }
  if (piece !== undefined) {
    yield piece.bytes.subarray(piece.from, piece.to);
  }
  yield COPY_TRAILER;
}

async function noteChanges(
  client: pg.PoolClient,
  owner: Owner,
  records: readonly PreparedRecord[],
  isNew: (index: number) => boolean,
): Promise<void> {
  for (const operation of ["c", "u"] as const) {
    for (const areCollections of [true, false]) {
      const ids = records
        .filter(({ isCollection }, index) => isNew(index) === (operation === "c") && isCollection === areCollections)
        .map(({ id }) => id);
      if (ids.length > 0) {
        await noteChange(client, owner, { operation, areCollections, ids });
      }
    }
  }
}

export async function noteChange(
  client: pg.PoolClient,
  { id, workspace, is_public: isPublic }: Owner,
  change: { readonly operation: "c" | "u" | "d"; readonly areCollections: boolean; readonly ids: readonly string[] },
): Promise<void> {
  await client.query(
    `/* prepared: note-change */ insert into change (operation, collection, workspace, is_public, is_collection, ids)
     values ($1, $2, $3, $4, $5, $6)`,
    [change.operation, id, workspace, isPublic, change.areCollections, change.ids],
  );
}
