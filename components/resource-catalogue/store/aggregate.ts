import { compileConditions } from "../query/compile-search.ts";
import { FilterError } from "../query/expression.ts";
import { castProperty, toPropertySql } from "../query/properties.ts";
import type { SearchRequest } from "../query/search-request.ts";
import { SqlParameters } from "../query/sql.ts";
import { type SearchDeps, runSearch } from "./run-search.ts";

/** Records that one aggregation looks at; past it the result says so. */
export const MAX_AGGREGATED = 200_000;
const MAX_BUCKETS = 1000;

export type Interval = "day" | "month" | "year";

/** What is asked of the records that a search matches. */
export type Aggregation =
  | { readonly kind: "count" }
  | { readonly kind: "minimum" | "maximum" }
  /** How often each value of a property occurs. */
  | { readonly kind: "terms"; readonly property: string }
  | { readonly kind: "histogram"; readonly property: string; readonly width: number }
  | { readonly kind: "times"; readonly interval: Interval };

export interface Bucket {
  readonly key: string;
  readonly count: number;
  readonly from?: number;
  readonly to?: number;
}

export interface AggregationResult {
  readonly value?: number | string | null;
  readonly buckets?: readonly Bucket[];
  /** Not all matching records were looked at. */
  readonly isPartial: boolean;
}

/** Looks at the matching records, at most MAX_AGGREGATED of them. */
export async function aggregate(
  deps: SearchDeps,
  request: SearchRequest,
  aggregation: Aggregation,
): Promise<AggregationResult> {
  type Row = Record<string, unknown>;
  /** @param write makes the text from the conditions, and from a query of a column over all that match, up to the limit */
  const query = async (write: (from: (column: string) => string, conditions: string) => string): Promise<Row[]> => {
    const { rows } = await runSearch<Row>(deps, request, (parts) => {
      const parameters = new SqlParameters();
      const conditions = compileConditions(request, parameters, { parts }).join(" and ") || "true";
      const from = (column: string): string =>
        `(select ${column} as v from record r where ${conditions} limit ${MAX_AGGREGATED}) x`;
      return { text: write(from, conditions), values: parameters.values };
    });
    return rows;
  };
  const total = "sum(count(*)) over ()";
  switch (aggregation.kind) {
    case "count": {
      const [row] = await query((from) => `select count(*)::int as value from ${from("1")}`);
      return { value: row?.["value"] as number, isPartial: row?.["value"] === MAX_AGGREGATED };
    }
    case "minimum":
    case "maximum": {
      const order = aggregation.kind === "minimum" ? "asc" : "desc";
      const [row] = await query(
        (
          _from,
          conditions,
        ) => `select to_char(r.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as value from record r
         where ${conditions} and r.at > '-infinity' order by r.at ${order}, r.n ${order} limit 1`,
      );
      return { value: (row?.["value"] as string | undefined) ?? null, isPartial: false };
    }
    case "terms": {
      const found = toPropertySql(aggregation.property);
      const sql = found.type === "json" ? `(${found.sql} #>> '{}')` : `(${found.sql})::text`;
      if (found.type === "geometry") {
        throw new FilterError("geometry cannot be aggregated");
      }
      const rows = await query(
        (from) =>
          `select v as key, count(*)::int as count, (${total})::int as total from ${from(sql)} where v is not null group by v order by 2 desc, 1 limit ${MAX_BUCKETS}`,
      );
      return toBuckets(rows, (row) => ({ key: row["key"] as string, count: row["count"] as number }));
    }
    case "histogram": {
      const sql = castProperty(toPropertySql(aggregation.property), "number", aggregation.property);
      const { width } = aggregation;
      const rows = await query(
        (from) =>
          `select floor(v / ${width})::int as bin, count(*)::int as count, (${total})::int as total from ${from(sql)} where v is not null group by 1 order by 1 limit ${MAX_BUCKETS}`,
      );
      return toBuckets(rows, (row) => {
        const low = (row["bin"] as number) * width;
        return { key: String(low), count: row["count"] as number, from: low, to: low + width };
      });
    }
    case "times": {
      const rows = await query(
        (from) =>
          `select to_char(date_trunc('${aggregation.interval}', v at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as key, count(*)::int as count, (${total})::int as total
         from ${from("nullif(r.at, '-infinity')")} where v is not null group by 1 order by 1 limit ${MAX_BUCKETS}`,
      );
      return toBuckets(rows, (row) => ({ key: row["key"] as string, count: row["count"] as number }));
    }
  }
}

function toBuckets(
  rows: readonly Record<string, unknown>[],
  toBucket: (row: Record<string, unknown>) => Bucket,
): AggregationResult {
  return { buckets: rows.map(toBucket), isPartial: rows[0]?.["total"] === MAX_AGGREGATED };
}
