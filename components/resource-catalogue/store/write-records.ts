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
} from "./copy-text.ts";
import { COPY_HEADER, COPY_TRAILER, writePlacement } from "./copy-binary.ts";
import { CopyLines, toCopyLines } from "./copy-lines.ts";
import { inTransaction } from "./transaction.ts";

/** insert: none may exist. upsert: replaced where it exists. replace: must exist. */
export type WriteMode = "insert" | "upsert" | "replace";

export interface WriteOptions {
  readonly mode: WriteMode;
  /** Key of the collection that the records belong to. */
  readonly collection: number;
  /** Only where the stored record has this version; for one record. */
  readonly expectedVersion?: { readonly n: string; readonly version: number };
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
    return insertOne(pool, only, options.collection).then((written) => [written]);
  }
  return inTransaction(pool, async (client) => {
    if (records.length > 1) {
      await lockForLoading(client, options.collection, "shared");
    }
    return writeInTransaction(client, records, options);
  });
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
  { mode, collection, expectedVersion }: WriteOptions,
): Promise<Written[]> {
  const owner = await lockCollection(client, collection);
  const keys = await lockKeys(client, records, collection, mode);
  const existing = [...keys.values()].filter(({ isNew }) => !isNew);
  if (keys.size < records.length) {
    const others = records.filter((record) => !keys.has(keyOf(record)));
    throw new WriteConflict(
      mode === "insert" ? "exists" : "missing",
      others.slice(0, 10).map(({ id }) => id),
    );
  }
  const before = await removeOld(client, existing);
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
      const { part, n, isNew } = keys.get(keyOf(record)) as LockedKey;
      const old = before.get(n);
      const version = (old?.version ?? 0) + 1;
      const placement = { part, n, version, collection, madeAt: old?.madeAt ?? now, changedAt: now };
      return { n, version, isNew, at, record, placement };
    },
  );
  await insertRows(client, written);
  await noteChanges(client, owner, records, (index) => (written[index] as Written).isNew);
  return written.map(({ n, version, isNew }) => ({ n, version, isNew, at }));
}

/**
 * Held while many records are written: `exclusive` by loads that write batch by batch, `shared` by those that lock all ids at once.
 * Two writers that lock the same ids in different orders would wait for each other.
 */
export async function lockForLoading(
  client: pg.PoolClient,
  collection: number,
  mode: "exclusive" | "shared",
): Promise<void> {
  const name = mode === "exclusive" ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared";
  await client.query(`select ${name}(hashtext('catalogue load'), $1)`, [collection]);
}

/** The collection as it is told to those who follow changes; it cannot be deleted until the transaction ends. */
interface Owner {
  readonly id: string;
  readonly workspace: string | null;
  readonly is_public: boolean;
}

async function lockCollection(client: pg.PoolClient, key: number): Promise<Owner> {
  const { rows } = await client.query<Owner>(
    "/* prepared: lock-collection */ select id, workspace, is_public from collection where key = $1 for key share",
    [key],
  );
  if (rows[0] === undefined) {
    throw new WriteConflict("no-collection", []);
  }
  return rows[0];
}

interface LockedKey {
  readonly part: number;
  readonly n: string;
  readonly isNew: boolean;
}

const keyOf = ({ id, isCollection }: Pick<PreparedRecord, "id" | "isCollection">): string =>
  `${isCollection ? "c" : "i"}${id}`;

/** Locks the ids in their order, and gives new ones a number. Without those that exist in mode `insert`, or do not in `replace`. */
async function lockKeys(
  client: pg.PoolClient,
  records: readonly PreparedRecord[],
  collection: number,
  mode: WriteMode,
): Promise<Map<string, LockedKey>> {
  const ids = records.map(({ id }) => id);
  const areCollections = records.map(({ isCollection }) => isCollection);
  const statements: Readonly<Record<WriteMode, string>> = {
    insert: `insert into record_key as k (id, collection, is_collection, part)
      select x.id, $2, x.c, 0 from unnest($1::text[], $3::boolean[]) as x(id, c) order by x.id collate "C", x.c
      on conflict do nothing returning id, is_collection, part, n, true as fresh`,
    // A row that was there before has an xmax: this transaction's lock.
    upsert: `insert into record_key as k (id, collection, is_collection, part)
      select x.id, $2, x.c, 0 from unnest($1::text[], $3::boolean[]) as x(id, c) order by x.id collate "C", x.c
      on conflict (id, collection, is_collection) do update set part = k.part
      returning id, is_collection, part, n, (xmax = 0) as fresh`,
    replace: `select k.id, k.is_collection, k.part, k.n, false as fresh
      from record_key k join unnest($1::text[], $3::boolean[]) as x(id, c) on k.id = x.id and k.is_collection = x.c
      where k.collection = $2 order by k.id, k.is_collection for update of k`,
  };
  const { rows } = await client.query<{ id: string; is_collection: boolean; part: number; n: string; fresh: boolean }>(
    `/* prepared: lock-keys-${mode} */ ${statements[mode]}`,
    [ids, collection, areCollections],
  );
  return new Map(
    rows.map(({ id, is_collection: isCollection, part, n, fresh }) => [
      keyOf({ id, isCollection }),
      { part, n, isNew: fresh },
    ]),
  );
}

async function removeOld(
  client: pg.PoolClient,
  keys: readonly LockedKey[],
): Promise<Map<string, { version: number; madeAt: string }>> {
  if (keys.length === 0) {
    return new Map();
  }
  const { rows } = await client.query<{ n: string; version: number; made_at: Date }>(
    `/* prepared: remove-old */ delete from record r using unnest($1::int[], $2::bigint[]) as x(part, n)
     where r.part = x.part and r.n = x.n and r.part = any($1) returning r.n, r.version, r.made_at`,
    [keys.map(({ part }) => part), keys.map(({ n }) => n)],
  );
  return new Map(rows.map(({ n, version, made_at: madeAt }) => [n, { version, madeAt: madeAt.toISOString() }]));
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
      gathered.add(record.id, record.cells);
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

async function noteChange(
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

interface Deletion {
  readonly collection: number;
  readonly id: string;
  readonly expectedVersion?: { readonly n: string; readonly version: number };
}

/** Deletes one record. @throws {WriteConflict} where it does not exist, or is not of the expected version */
export function deleteRecord(pool: pg.Pool, deletion: Deletion): Promise<void> {
  return inTransaction(pool, (client) => deleteInTransaction(client, deletion));
}

/** The same inside a transaction of the caller's. */
export async function deleteInTransaction(
  client: pg.PoolClient,
  { collection, id, expectedVersion }: Deletion,
): Promise<void> {
  const owner = await lockCollection(client, collection);
  const { rows } = await client.query<{ part: number; n: string }>(
    "delete from record_key where id = $1 and collection = $2 and not is_collection returning part, n",
    [id, collection],
  );
  const [key] = rows;
  if (key === undefined) {
    throw new WriteConflict("missing", [id]);
  }
  const before = await removeOld(client, [{ ...key, isNew: false }]);
  const version = before.get(key.n)?.version;
  if (expectedVersion !== undefined && (key.n !== expectedVersion.n || version !== expectedVersion.version)) {
    throw new WriteConflict("changed", [id]);
  }
  await noteChange(client, owner, { operation: "d", areCollections: false, ids: [id] });
}

/** Deletes a collection with everything in it. */
export function deleteCollection(pool: pg.Pool, key: number): Promise<void> {
  return inTransaction(pool, async (client) => {
    // Writers of its records hold a share of it: they end first, or find it gone.
    const { rows } = await client.query<Owner>(
      "delete from collection where key = $1 returning id, workspace, is_public",
      [key],
    );
    const [owner] = rows;
    if (owner === undefined) {
      throw new WriteConflict("missing", []);
    }
    await client.query(
      `with gone as (delete from record where collection = $1 returning id, kind)
       delete from record_key k using gone g where k.id = g.id and k.collection = $1 and k.is_collection = (g.kind = 'c')`,
      [key],
    );
    await client.query("delete from part where collection = $1", [key]);
    await noteChange(client, owner, { operation: "d", areCollections: true, ids: [owner.id] });
  });
}
