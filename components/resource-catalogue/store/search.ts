import type pg from "pg";

import type { StoredRecord } from "../model/record.ts";
import { type Statement, compileCount, compilePage } from "../query/compile-search.ts";
import { FilterError } from "../query/expression.ts";
import type { Matched, PageToken, SearchRequest } from "../query/search-request.ts";
import { type RecordRow, toStoredRecord } from "./record-row.ts";
import type { StatementNames } from "./statement-names.ts";

/** A page of what a search found. */
export interface SearchResult {
  readonly records: readonly StoredRecord[];
  /** Left out on the last page. */
  readonly next?: PageToken;
  /** Left out where nothing was to be counted. */
  readonly matched?: Matched;
}

export interface SearchDeps {
  readonly pool: pg.Pool;
  readonly names: StatementNames;
}

/** SQLSTATE classes of what a client's filter can be wrong in: a value out of range, a pattern, a division. */
const CLIENT_ERROR = /^22/;

/**
 * Finds the records that match, as far as the reader may see them.
 * @throws {FilterError} for a filter that cannot be evaluated, or takes too long
 */
export async function searchRecords({ pool, names }: SearchDeps, request: SearchRequest): Promise<SearchResult> {
  const { limit, after, countUpTo, offset = 0 } = request;
  const counts = countUpTo > 0 && after?.matched === undefined;
  const page = run(pool, names.prepare(compilePage(request)));
  // On another connection at the same time, but only where the page may not tell.
  const counting =
    counts && (limit === 0 || after !== undefined || offset > 0) ? count({ pool, names }, request) : undefined;
  counting?.catch(() => {});
  const { rows } = await page;
  const isLast = rows.length <= limit;
  const shown = isLast ? rows : rows.slice(0, limit);
  const matched =
    after?.matched ??
    (counting !== undefined
      ? await counting
      : counts
        ? isLast
          ? { count: rows.length, isLowerBound: false }
          : await count({ pool, names }, request)
        : undefined);
  const last = shown.at(-1);
  return {
    records: shown.map(toStoredRecord),
    ...(!isLast && last !== undefined && { next: toToken(last, request, matched) }),
    ...(matched && { matched }),
  };
}

async function count({ pool, names }: SearchDeps, request: SearchRequest): Promise<Matched> {
  const { rows } = await run<{ count: number }>(pool, names.prepare(compileCount(request)));
  const found = rows[0]?.count ?? 0;
  return { count: Math.min(found, request.countUpTo), isLowerBound: found > request.countUpTo };
}

async function run<T extends pg.QueryResultRow = RecordRow>(
  pool: pg.Pool,
  statement: Statement,
): Promise<pg.QueryResult<T>> {
  try {
    return await pool.query<T>(statement.text, [...statement.values]);
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (CLIENT_ERROR.test(code)) {
      throw new FilterError(`the filter cannot be evaluated: ${(error as Error).message}`);
    }
    if (code === "57014") {
      throw new FilterError("the search took too long; narrow it by a collection, a place or a time");
    }
    throw error;
  }
}

function toToken(row: RecordRow, { sort }: SearchRequest, matched: Matched | undefined): PageToken {
  const values = Array.from({ length: sort?.length ?? 1 }, (_, index) => row[`k${index}`] as string | number | null);
  return { values, n: row.n, ...(matched && { matched }) };
}
