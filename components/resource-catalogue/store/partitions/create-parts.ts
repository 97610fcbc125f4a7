import type pg from "pg";

import { COMMON_PART } from "./part-map.ts";

/** A part to be made. Times are texts of PostgreSQL's, in whole seconds. */
export interface NewPart {
  readonly fromAt: string;
  readonly toAt: string;
  /** How much longer the spans of its records may be on each side, as an interval. */
  readonly margin: string;
}

export const tableOf = (number: number): string => `record_${number}`;

/** Makes empty parts of a collection, inside a transaction of the caller's. Readers and writers go on meanwhile. */
export async function createParts(client: pg.ClientBase, collection: number, parts: readonly NewPart[]): Promise<void> {
  for (const { fromAt, toAt, margin } of parts) {
    const { rows } = await client.query<{ number: number }>(
      `insert into part (collection, from_at, to_at, starts, ends)
       values ($1, $2, $3, $2::timestamptz - $4::interval, $3::timestamptz + $4::interval + interval '1 second') returning number`,
      [collection, fromAt, toAt, margin],
    );
    const { number } = rows[0] as { number: number };
    await createTable(client, number);
    await client.query(`alter table record attach partition ${tableOf(number)} for values in (${number})`);
  }
  await notePartsChanged(client);
}

/** Parts, or who may read them, have changed: searches that leave parts out are refused until their process has read them again. */
export async function notePartsChanged(client: pg.ClientBase): Promise<void> {
  await client.query("update part_version set version = version + 1");
}

/** A table as that of the common part: with the same indexes, those of queryables included, and the same targets of statistics. */
async function createTable(client: pg.ClientBase, number: number): Promise<void> {
  const [table, model] = [tableOf(number), tableOf(COMMON_PART)];
  await client.query(
    `create table ${table} (like ${model} including defaults including storage including compression)`,
  );
  const { rows } = await client.query<{ statement: string }>(
    `select regexp_replace(pg_get_indexdef(i.indexrelid), 'INDEX ${model}(\\S*) ON (\\S+\\.)?${model} ', 'INDEX ${table}\\1 ON ${table} ') as statement
     from pg_index i where i.indrelid = $1::regclass and i.indisvalid
     union all
     select format('alter table ${table} alter column %I set statistics %s', a.attname, a.attstattarget)
     from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attstattarget >= 0
     union all
     select format('alter table ${table} set (%s)', array_to_string(c.reloptions, ', ')) from pg_class c where c.oid = $1::regclass and c.reloptions is not null`,
    [model],
  );
  for (const { statement } of rows) {
    await client.query(statement);
  }
}
