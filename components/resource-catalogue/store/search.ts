import type { StoredRecord } from "../model/record.ts";
import { type SearchPlan, compileCount, compileEstimate, compilePage, findTimeOrder } from "../query/compile-search.ts";
import type { Matched, PageToken, SearchRequest } from "../query/search-request.ts";
import { type RecordRow, toStoredRecord } from "./record-row.ts";
import { type SearchDeps, runSearch } from "./run-search.ts";

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

/**
 * Finds the records that match, as far as the reader may see them.
 * @throws {FilterError} for a filter that cannot be evaluated, or takes too long
 */
export async function searchRecords(deps: SearchDeps, request: SearchRequest): Promise<SearchResult> {
  const { limit, after, countUpTo, offset = 0 } = request;
  const isCollected = deps.statistics.prefersCollecting(request);
  const rows = isCollected ? await readPage(deps, request, { isCollected }) : await walk(deps, request);
  const isBackward = after?.isBackward === true;
  const isLast = rows.length <= limit;
  const shown = isLast ? rows : isBackward ? rows.slice(-limit) : rows.slice(0, limit);
  const matched =
    after?.matched ??
    (countUpTo === 0
      ? undefined
      : isLast && after === undefined && offset === 0
        ? { count: rows.length, isLowerBound: false }
        : await findMatched(deps, request, rows[0]?.matched));
  const [first, last] = [shown[0], shown.at(-1)];
  const [hasPrev, hasNext] = isBackward ? [!isLast, true] : [after !== undefined, !isLast];
  return {
    records: shown.map(toStoredRecord),
    ...(hasNext && last !== undefined && { next: toToken(last, request, matched) }),
    ...(hasPrev && first !== undefined && { prev: { ...toToken(first, request, matched), isBackward: true } }),
    ...(matched && { matched }),
  };
}

async function readPage(
  deps: SearchDeps,
  request: SearchRequest,
  plan: Pick<SearchPlan, "isCollected" | "window">,
): Promise<readonly RecordRow[]> {
  const { rows } = await runSearch<RecordRow>(
    deps,
    request,
    (parts) => compilePage(request, { ...plan, parts }),
    plan.window,
  );
  return rows;
}

/**
 * Reads records in their order until there are enough. In the order of time it goes from partition to partition: all at once would look in each for
 * the first match, and through all of one that has none.
 */
async function walk(deps: SearchDeps, request: SearchRequest): Promise<readonly RecordRow[]> {
  const { limit, after, offset } = request;
  const order = offset === undefined ? findTimeOrder(request) : undefined;
  const windows = order === undefined ? [] : deps.parts.windowsOf(request);
  if (windows.length < 2) {
    return readPage(deps, request, {});
  }
  const isBackward = after?.isBackward === true;
  const isNewestFirst = (order === "desc") !== isBackward;
  // Not a number without a token, and of a record without time: then no window is passed over.
  const start = Date.parse(String(after?.values[0]));
  let found: readonly RecordRow[] = [];
  for (const window of isNewestFirst ? windows : windows.toReversed()) {
    // The token is in a later window.
    if (isNewestFirst ? window.from > start : window.to <= start) {
      continue;
    }
    const rows = await readPage(deps, { ...request, limit: limit - found.length }, { window });
    found = isBackward ? [...rows, ...found] : [...found, ...rows];
    if (found.length > limit) {
      break;
    }
  }
  return found;
}

/** @param found where the records of the page were collected, and with them all that match */
async function findMatched(deps: SearchDeps, request: SearchRequest, found: number | undefined): Promise<Matched> {
  const matched = toMatched(found, request.countUpTo) ?? (await count(deps, request));
  return matched.isLowerBound && request.estimatesBeyond === true
    ? { ...matched, count: Math.max(matched.count, found ?? (await estimate(deps, request))) }
    : matched;
}

async function estimate(deps: SearchDeps, request: SearchRequest): Promise<number> {
  const { rows } = await runSearch<{ "QUERY PLAN": readonly { Plan: { "Plan Rows": number } }[] }>(
    deps,
    request,
    (parts) => compileEstimate(request, { parts }),
  );
  return rows[0]?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0;
}

const toMatched = (found: number | undefined, cap: number): Matched | undefined =>
  found === undefined ? undefined : { count: Math.min(found, cap), isLowerBound: found > cap };

async function count(deps: SearchDeps, request: SearchRequest): Promise<Matched> {
  const statement = compileCount(request);
  const known = deps.counts.find(statement);
  if (known !== undefined) {
    return known;
  }
  const { rows } = await runSearch<{ count: number }>(deps, request, (parts) => compileCount(request, { parts }));
  const matched = toMatched(rows[0]?.count ?? 0, request.countUpTo) as Matched;
  deps.counts.remember(statement, matched);
  return matched;
}

function toToken(row: RecordRow, { sort }: SearchRequest, matched: Matched | undefined): PageToken {
  const values = Array.from({ length: sort?.length ?? 1 }, (_, index) => row[`k${index}`] as string | number | null);
  return { values, n: row.n, ...(matched && { matched }) };
}
