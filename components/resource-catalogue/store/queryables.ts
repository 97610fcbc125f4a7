import type { Reader } from "../access/reader.ts";
import { compileConditions } from "../query/compile-search.ts";
import { CORE_QUERYABLES, type QueryableSchema, SAMPLE_SIZE, inferQueryables } from "../query/queryables.ts";
import type { RecordKind } from "../model/record.ts";
import { SqlParameters } from "../query/sql.ts";
import { type SearchDeps, runSearch } from "./run-search.ts";

interface QueryablesOptions {
  readonly reader: Reader;
  readonly kinds: readonly RecordKind[];
  readonly collections?: readonly string[];
}

/** What the newest records of the given collections can be filtered by. */
export async function readQueryables(
  deps: SearchDeps,
  options: QueryablesOptions,
): Promise<Readonly<Record<string, QueryableSchema>>> {
  const search = { ...options, limit: SAMPLE_SIZE, countUpTo: 0 };
  const { rows } = await runSearch<{ properties: Readonly<Record<string, unknown>> }>(deps, search, (parts) => {
    const parameters = new SqlParameters();
    const conditions = compileConditions(search, parameters, { parts }).join(" and ");
    const text = `select r.properties from record r where ${conditions} order by r.at desc, r.n desc limit ${SAMPLE_SIZE}`;
    return { text, values: parameters.values };
  });
  return { ...CORE_QUERYABLES, ...inferQueryables(rows.map(({ properties }) => properties)) };
}
