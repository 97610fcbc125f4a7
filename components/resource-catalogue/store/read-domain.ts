import type pg from "pg";

import { compileConditions } from "../query/compile-search.ts";
import { toPropertySql } from "../query/properties.ts";
import type { SearchRequest } from "../query/search-request.ts";
import { SqlParameters } from "../query/sql.ts";

/** Values that a property has: all of them, or the least and the most of times and numbers. */
export type Domain =
  | { readonly values: readonly string[] }
  | { readonly least: string | undefined; readonly most: string | undefined };

/** Values of one answer, and records that are looked at for it. */
const MAX_VALUES = 1000;
const MAX_RECORDS = 100_000;

/** The values of a property over the records of a search, which holds the reader's rights; in order. */
export async function readDomain(pool: pg.Pool, search: SearchRequest, property: string): Promise<Domain> {
  const parameters = new SqlParameters();
  const conditions = compileConditions(search, parameters);
  const { sql, type } = toPropertySql(property);
  const found = `select ${sql} as value from record r where ${[...conditions, `${sql} is not null`].join(" and ")} limit ${MAX_RECORDS}`;
  if (type === "time" || type === "number") {
    const { rows } = await pool.query<{ least: string | null; most: string | null }>(
      `with found as (${found}) select ${toText("min(value)", type)} as least, ${toText("max(value)", type)} as most from found`,
      [...parameters.values],
    );
    return { least: rows[0]?.least ?? undefined, most: rows[0]?.most ?? undefined };
  }
  const each =
    type === "json"
      ? `select e from found, jsonb_array_elements_text(case jsonb_typeof(value) when 'array' then value when 'object' then '[]' else jsonb_build_array(value) end) e`
      : "select value as e from found";
  const { rows } = await pool.query<{ e: string }>(
    `with found as (${found}) select distinct e collate "C" as e from (${each}) x where e is not null order by 1 limit ${MAX_VALUES}`,
    [...parameters.values],
  );
  return { values: rows.map(({ e }) => e) };
}

const toText = (sql: string, type: string): string =>
  type === "time" ? `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')` : `${sql}::text`;
