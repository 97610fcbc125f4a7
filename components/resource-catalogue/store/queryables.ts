import type pg from "pg";

import type { Reader } from "../access/reader.ts";
import { compileConditions } from "../query/compile-search.ts";
import { CORE_QUERYABLES, type QueryableSchema, SAMPLE_SIZE, inferQueryables } from "../query/queryables.ts";
import type { RecordKind } from "../model/record.ts";
import { SqlParameters } from "../query/sql.ts";

interface QueryablesOptions {
  readonly reader: Reader;
  readonly kinds: readonly RecordKind[];
  readonly collections?: readonly string[];
}

/** What the newest records of the given collections can be filtered by. */
export async function readQueryables(
  pool: pg.Pool,
  options: QueryablesOptions,
): Promise<Readonly<Record<string, QueryableSchema>>> {
  const parameters = new SqlParameters();
  const conditions = compileConditions({ ...options, limit: SAMPLE_SIZE, countUpTo: 0 }, parameters);
  const { rows } = await pool.query<{ properties: Readonly<Record<string, unknown>> }>(
    `select r.properties from record r where ${conditions.join(" and ")} order by r.at desc, r.n desc limit ${SAMPLE_SIZE}`,
    parameters.values,
  );
  return { ...CORE_QUERYABLES, ...inferQueryables(rows.map(({ properties }) => properties)) };
}
