import type pg from "pg";

import { compileConditions } from "../query/compile-search.ts";
import { toPropertySql } from "../query/properties.ts";
import type { SearchRequest } from "../query/search-request.ts";
import { SqlParameters } from "../query/sql.ts";
import { type SearchDeps, runSearch } from "./run-search.ts";

/** Values that a property has: all of them, or the least and the most of times and numbers. */
export type Domain =
  | { readonly values: readonly string[] }
  | { readonly least: string | undefined; readonly most: string | undefined };

/** Values of one answer, and records that are looked at for it. */
const MAX_VALUES = 1000;
const MAX_RECORDS = 100_000;

/** The values of a property over the records of a search, which holds the reader's rights; in order. */
export async function readDomain(deps: SearchDeps, search: SearchRequest, property: string): Promise<Domain> {
  const { sql, type } = toPropertySql(property);
  const query = <T extends pg.QueryResultRow>(write: (found: string) => string): Promise<pg.QueryResult<T>> =>
    runSearch<T>(deps, search, (parts) => {
      const parameters = new SqlParameters();
      const conditions = [...compileConditions(search, parameters, { parts }), `${sql} is not null`].join(" and ");
      return {
        text: write(`select ${sql} as value from record r where ${conditions} limit ${MAX_RECORDS}`),
        values: parameters.values,
      };
    });
  if (type === "time" || type === "number") {
    const { rows } = await query<{ least: string | null; most: string | null }>(
      (found) =>
        `with found as (${found}) select ${toText("min(value)", type)} as least, ${toText("max(value)", type)} as most from found`,
    );
    return { least: rows[0]?.least ?? undefined, most: rows[0]?.most ?? undefined };
  }
  const each =
    type === "json"
      ? `select e from found, jsonb_array_elements_text(case jsonb_typeof(value) when 'array' then value when 'object' then '[]' else jsonb_build_array(value) end) e`
      : "select value as e from found";
  const { rows } = await query<{ e: string }>(
    (found) =>
      `with found as (${found}) select distinct e collate "C" as e from (${each}) x where e is not null order by 1 limit ${MAX_VALUES}`,
  );
  return { values: rows.map(({ e }) => e) };
}

const toText = (sql: string, type: string): string =>
  type === "time" ? `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')` : `${sql}::text`;
