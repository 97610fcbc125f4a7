import type pg from "pg";

import { type Reader, toReadCondition } from "../access/reader.ts";
import type { StoredRecord } from "../model/record.ts";
import { RECORD_COLUMNS } from "../query/compile-search.ts";
import { SqlParameters } from "../query/sql.ts";
import { type RecordRow, toStoredRecord } from "./record-row.ts";
import type { SearchDeps } from "./run-search.ts";

interface ReadOptions {
  readonly reader: Reader;
  readonly id: string;
  /** Of all that the reader may see when left out: ids are unique in their collection only, so that there may be several. */
  readonly collection?: string;
  /** Records that describe a collection, others, or both. */
  readonly isCollection?: boolean;
}

/** The records of an id, at most ten; those of `metadata:main` first, then by the ids of their collections. */
export async function readRecords({ pool, names }: SearchDeps, options: ReadOptions): Promise<StoredRecord[]> {
  const { reader, id, collection, isCollection } = options;
  const parameters = new SqlParameters();
  const conditions = [
    `k.id = ${parameters.add(id, "text")}`,
    toReadCondition(reader, (value, type) => parameters.add(value, type)),
    ...(collection === undefined ? [] : [`c.id = ${parameters.add(collection, "text")}`]),
    ...(isCollection === undefined ? [] : [`k.is_collection = ${String(isCollection)}`]),
  ];
  const text = `select ${RECORD_COLUMNS} from record_key k join collection c on c.key = k.collection
    join record r on r.part = k.part and r.n = k.n where ${conditions.join(" and ")}
    order by (c.id like 'metadata:%') desc, c.id limit 10`;
  const statement = names.prepare({ text, values: parameters.values });
  const { rows } = await pool.query<RecordRow>(statement.text, [...statement.values]);
  return rows.map(toStoredRecord);
}

export async function findRecord(deps: SearchDeps, options: ReadOptions): Promise<StoredRecord | undefined> {
  return (await readRecords(deps, options))[0];
}

/** What came, byte for byte. */
export async function readSource(
  pool: pg.Pool,
  { n, text, format }: Pick<StoredRecord, "n" | "text" | "format">,
): Promise<{ readonly bytes: Buffer; readonly type: string }> {
  if (format === "stac" || format === "ogc") {
    return { bytes: Buffer.from(text), type: format === "stac" ? "application/json" : "application/geo+json" };
  }
  const { rows } = await pool.query<{ source: Buffer | null; source_type: string | null }>(
    "select source, source_type from record where n = $1",
    [n],
  );
  return { bytes: rows[0]?.source ?? Buffer.from(text), type: rows[0]?.source_type ?? "application/json" };
}
