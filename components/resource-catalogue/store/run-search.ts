import type pg from "pg";

import type { SearchPlan, Statement } from "../query/compile-search.ts";
import { FilterError } from "../query/expression.ts";
import type { SearchRequest } from "../query/search-request.ts";
import type { CountMemory } from "./count-memory.ts";
import { type PartMap, type Window, isPartsChanged } from "./partitions/part-map.ts";
import type { StatementNames } from "./statement-names.ts";
import type { RecordStatistics } from "./statistics.ts";

/** What searches are made with. */
export interface SearchDeps {
  readonly pool: pg.Pool;
  /** Its statements have a time limit. */
  readonly searchPool: pg.Pool;
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
 * Runs a statement that is made of a search and of the parts that its records are in; again where these have changed meanwhile.
 * @throws {FilterError} for a filter that cannot be evaluated, or takes too long
 */
export async function runSearch<T extends pg.QueryResultRow>(
  { searchPool, names, parts }: SearchDeps,
  request: SearchRequest,
  compile: (parts: SearchPlan["parts"]) => Statement,
  window?: Window,
): Promise<pg.QueryResult<T>> {
  for (let attempt = 1; ; attempt += 1) {
    const statement = compile(attempt <= MAX_ATTEMPTS ? parts.select(request, window) : undefined);
    // How often words, properties and times occur makes the plan: such statements are planned for their values. Of places PostgreSQL
    // knows nothing, so that a plan for all of them is as good.
    const isPlannedOnce = request.filter === undefined && request.time === undefined;
    const { text, values } = isPlannedOnce ? names.prepare(statement) : statement;
    try {
      return await searchPool.query<T>(text, [...values]);
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
