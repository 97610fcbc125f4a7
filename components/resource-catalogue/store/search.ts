import type pg from "pg";

import type { StoredRecord } from "../model/record.ts";
import { type SearchPlan, type Statement, compileCount, compilePage } from "../query/compile-search.ts";
import { FilterError } from "../query/expression.ts";
import type { Matched, PageToken, SearchRequest } from "../query/search-request.ts";
import type { CountMemory } from "./count-memory.ts";
import { type PartMap, isPartsChanged } from "./partitions/part-map.ts";
import { type RecordRow, toStoredRecord } from "./record-row.ts";
import type { RecordStatistics } from "./statistics.ts";
import type { StatementNames } from "./statement-names.ts";

/** A page of what a search found. */
export interface SearchResult {
  readonly records: readonly StoredRecord[];
  /** Left out on the last page. */
  readonly next?: PageToken;
  /** Left out on the first page. */
  readonly prev?: PageToken;
  /** Left out where nothing was to be counted. */
  readonly matched?: Matched;
}

export interface SearchDeps {
  readonly pool: pg.Pool;
  readonly names: StatementNames;
  readonly statistics: RecordStatistics;
  readonly counts: CountMemory;
  readonly parts: PartMap;
}

/** How often parts are read again for one search, before it looks into all of them. */
const MAX_ATTEMPTS = 2;
/** SQLSTATE classes of what a client's filter can be wrong in: a value out of range, a pattern, a division. */
const CLIENT_ERROR = /^22/;

/**
 * Finds the records that match, as far as the reader may see them.
 * @throws {FilterError} for a filter that cannot be evaluated, or takes too long
 */
export async function searchRecords(deps: SearchDeps, request: SearchRequest): Promise<SearchResult> {
  const { limit, after, countUpTo, offset = 0 } = request;
  const isCollected = deps.statistics.prefersCollecting(request);
  const { rows } = await run(deps, request, (parts) => compilePage(request, { isCollected, parts }));
  const isBackward = after?.isBackward === true;
  const isLast = rows.length <= limit;
  const shown = isLast ? rows : isBackward ? rows.slice(-limit) : rows.slice(0, limit);
  const matched =
    after?.matched ??
    (countUpTo === 0
      ? undefined
      : isLast && after === undefined && offset === 0
        ? { count: rows.length, isLowerBound: false }
        : (toMatched(rows[0]?.matched, countUpTo) ?? (await count(deps, request))));
  const [first, last] = [shown[0], shown.at(-1)];
  const [hasPrev, hasNext] = isBackward ? [!isLast, true] : [after !== undefined, !isLast];
  return {
    records: shown.map(toStoredRecord),
    ...(hasNext && last !== undefined && { next: toToken(last, request, matched) }),
    ...(hasPrev && first !== undefined && { prev: { ...toToken(first, request, matched), isBackward: true } }),
    ...(matched && { matched }),
  };
}

const toMatched = (found: number | undefined, cap: number): Matched | undefined =>
  found === undefined ? undefined : { count: Math.min(found, cap), isLowerBound: found > cap };

async function count(deps: SearchDeps, request: SearchRequest): Promise<Matched> {
  const statement = compileCount(request);
  if (deps.counts.isBeyondCap(statement)) {
    return { count: request.countUpTo, isLowerBound: true };
  }
  const { rows } = await run<{ count: number }>(deps, request, (parts) => compileCount(request, { parts }));
  const matched = toMatched(rows[0]?.count ?? 0, request.countUpTo) as Matched;
  if (matched.isLowerBound) {
    deps.counts.remember(statement);
  }
  return matched;
}

async function run<T extends pg.QueryResultRow = RecordRow>(
  { pool, names, parts }: SearchDeps,
  request: SearchRequest,
  compile: (parts: SearchPlan["parts"]) => Statement,
): Promise<pg.QueryResult<T>> {
  for (let attempt = 1; ; attempt += 1) {
    const statement = compile(attempt <= MAX_ATTEMPTS ? parts.select(request) : undefined);
    // How often words, properties and times occur makes the plan: such statements are planned for their values. Of places PostgreSQL
    // knows nothing, so that a plan for all of them is as good.
    const isPlannedOnce = request.filter === undefined && request.time === undefined;
    const { text, values } = isPlannedOnce ? names.prepare(statement) : statement;
    try {
      return await pool.query<T>(text, [...values]);
    } catch (error) {
      if (!isPartsChanged(error)) {
        throw toFilterError(error);
      }
      await parts.refresh();
    }
  }
}

function toFilterError(error: unknown): unknown {
  const { code = "" } = error as { code?: string };
  if (CLIENT_ERROR.test(code)) {
    return new FilterError(`the filter cannot be evaluated: ${(error as Error).message}`);
  }
  return code === "57014"
    ? new FilterError("the search took too long; narrow it by a collection, a place or a time")
    : error;
}

function toToken(row: RecordRow, { sort }: SearchRequest, matched: Matched | undefined): PageToken {
  const values = Array.from({ length: sort?.length ?? 1 }, (_, index) => row[`k${index}`] as string | number | null);
  return { values, n: row.n, ...(matched && { matched }) };
}
