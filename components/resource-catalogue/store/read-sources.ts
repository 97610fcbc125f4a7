import type pg from "pg";

import type { StoredRecord } from "../model/record.ts";

/** What came, byte for byte, of records whose document was made from it; by their numbers. */
export async function readSources(
  pool: pg.Pool,
  records: readonly Pick<StoredRecord, "n">[],
): Promise<ReadonlyMap<string, Buffer>> {
  if (records.length === 0) {
    return new Map();
  }
  const { rows } = await pool.query<{ n: string; source: Buffer }>(
    "select n, source from record where n = any($1::bigint[]) and source is not null",
    [records.map(({ n }) => n)],
  );
  return new Map(rows.map(({ n, source }) => [n, source]));
}
