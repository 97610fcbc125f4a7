import { toReadCondition } from "../access/reader.ts";
import { compileFilter, compilePlace } from "./compile-filter.ts";
import { FilterError } from "./expression.ts";
import { toPropertySql } from "./properties.ts";
import type { SearchRequest, SortKey } from "./search-request.ts";
import { SqlParameters } from "./sql.ts";

/** A statement with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** How a search is made. */
export interface SearchPlan {
  /** All matches are found first and sorted then, and the first row says how many they are, up to the cap; else they are taken in the order of an index. */
  readonly isCollected?: boolean;
  /** Parts that all matches are in, and the version of the division that this is right for; all parts when left out. */
  readonly parts?: { readonly numbers: readonly number[]; readonly version: string } | undefined;
  /** Only records with from <= at < to, in milliseconds; infinite where open. */
  readonly window?: { readonly from: number; readonly to: number };
}

/** Sort keys of one search at most. */
const MAX_SORT_KEYS = 10;

/** Columns that make a stored record, of `r` and its collection `c`. Times are milliseconds: as text they take as long to read as all others. */
export const RECORD_COLUMNS = `r.n, r.version, r.kind, c.id as collection, c.workspace, r.id, r.type, r.format, r.doc, r.links_from, r.links_to,
  r.links, r.extra, date_part('epoch', r.made_at) * 1000 as made_at, date_part('epoch', r.changed_at) * 1000 as changed_at`;

/** The page that a search asks for, one record more than its limit where there is one. */
export function compilePage(request: SearchRequest, plan: SearchPlan = {}): Statement {
  const { isCollected = false, parts } = plan;
  const parameters = new SqlParameters();
  const conditions = compileConditions(request, parameters, plan);
  const keys = compileSort(request.sort);
  // The page before a record is read from there backwards, and turned around.
  const readKeys = request.after?.isBackward === true ? keys.map(reverse) : keys;
  const where = (extra: readonly string[]): string => [...conditions, ...extra].join(" and ") || "true";
  const after = compileAfter(request, readKeys, parameters);
  const limit = `limit ${request.limit + 1}${request.offset === undefined ? "" : ` offset ${request.offset}`}`;
  const columns = `r.part, r.n${keys.map(({ sql }, index) => `, ${sql} as k${index}`).join("")}`;
  const counts = isCollected && request.countUpTo > 0 && request.after === undefined;
  const found = isCollected
    ? `with hit as materialized (select ${columns} from record r where ${where(after)}),
       top as (select * from hit order by ${toOrder(readKeys, (_, index) => `k${index}`, "n")} ${limit})`
    : `with top as (select ${columns} from record r where ${where(after)} order by ${toOrder(readKeys, ({ sql }) => sql, "r.n")} ${limit})`;
  const text = `${found}
    select ${RECORD_COLUMNS}${keys.map(({ output }, index) => `, ${output(`top.k${index}`)} as k${index}`).join("")}${counts ? ", (select count(*)::int from hit) as matched" : ""}
    from top join record r on r.part = top.part and r.n = top.n${parts === undefined ? "" : ` and ${toPartCondition(parts.numbers)}`} join collection c on c.key = r.collection
    order by ${toOrder(keys, (_, index) => `top.k${index}`, "top.n")}`;
  return { text, values: parameters.values };
}

const toOrder = (keys: readonly CompiledKey[], name: (key: CompiledKey, index: number) => string, n: string): string =>
  [
    ...keys.map((key, index) => `${name(key, index)} ${key.direction}${toNulls(key)}`),
    `${n} ${lastDirection(keys)}`,
  ].join(", ");

/** Columns that are never null are sorted as their indexes are. */
const toNulls = ({ isNullable, isNullFirst }: CompiledKey): string =>
  isNullable ? ` nulls ${isNullFirst ? "first" : "last"}` : "";

const reverse = (key: CompiledKey): CompiledKey => ({
  ...key,
  direction: key.direction === "asc" ? "desc" : "asc",
  isNullFirst: true,
});

/** How many records match, up to `countUpTo` and one more. */
export function compileCount(request: SearchRequest, plan: Pick<SearchPlan, "parts"> = {}): Statement {
  const parameters = new SqlParameters();
  const conditions = compileConditions(request, parameters, plan);
  return {
    text: `select count(*)::int as count from (select 1 from record r where ${conditions.join(" and ") || "true"} limit ${request.countUpTo + 1}) x`,
    values: parameters.values,
  };
}

/** How many records PostgreSQL expects to match: a plan, as JSON. */
export function compileEstimate(request: SearchRequest, plan: Pick<SearchPlan, "parts"> = {}): Statement {
  const parameters = new SqlParameters();
  const conditions = compileConditions(request, parameters, plan);
  return {
    text: `explain (format json) select 1 from record r where ${conditions.join(" and ") || "true"}`,
    values: parameters.values,
  };
}

/** Only these parts; PostgreSQL refuses where they are others by now (`isPartsChanged`). */
function compileParts(parts: SearchPlan["parts"], parameters: SqlParameters): string[] {
  return parts === undefined
    ? []
    : [`(select check_part_version(${parameters.add(parts.version, "bigint")}))`, toPartCondition(parts.numbers)];
}

function compileWindow(window: SearchPlan["window"], parameters: SqlParameters): string[] {
  const toTime = (milliseconds: number): string => parameters.add(new Date(milliseconds).toISOString(), "timestamptz");
  return window === undefined
    ? []
    : [
        ...(Number.isFinite(window.from) ? [`r.at >= ${toTime(window.from)}`] : []),
        ...(Number.isFinite(window.to) ? [`r.at < ${toTime(window.to)}`] : []),
      ];
}

/** Whether records are wanted in the order of time, the newest first or the oldest; undefined: in another order. */
export function findTimeOrder({
  sort = [{ property: "datetime", direction: "desc" }],
}: SearchRequest): "asc" | "desc" | undefined {
  const [first] = compileSort(sort);
  return first?.sql === "r.at" ? first.direction : undefined;
}

/** As constants, so that other parts are no part of the plan. */
const toPartCondition = (numbers: readonly number[]): string => `r.part in (${numbers.join(", ")})`;

/** Everything that a search asks of a record, the reader's rights among it. */
export function compileConditions(
  request: SearchRequest,
  parameters: SqlParameters,
  { isCollected = false, parts, window }: SearchPlan = {},
): string[] {
  const { kinds, ids, place, time, matchesWithout = false, filter, checkProperty } = request;
  const scope = compileScope(request, parameters);
  const isScoped = isCollected && place !== undefined && !matchesWithout && scope.key !== undefined;
  // Not in the form of an index: the planner would read all of the collection's entries to narrow down a place that has few.
  const conditions = [
    ...compileParts(parts, parameters),
    ...compileWindow(window, parameters),
    isScoped ? `r.collection + 0 = ${scope.key}` : scope.sql,
  ];
  conditions.push(
    kinds.length === 1 ? `r.kind = '${kinds[0]}'` : `r.kind in (${kinds.map((kind) => `'${kind}'`).join(", ")})`,
  );
  if (ids !== undefined) {
    conditions.push(
      `r.n = any(array(select k.n from record_key k where k.id = any(${parameters.add(ids, "text[]")})))`,
    );
  }
  if (place !== undefined) {
    const found = compilePlace("s_intersects", place, { parameters }, isScoped ? scope.key : undefined);
    conditions.push(matchesWithout ? `(r.bbox is null or ${found})` : found);
  }
  if (time !== undefined) {
    const start = time.start === undefined ? "null" : parameters.add(time.start, "timestamptz");
    const end = time.end === undefined ? "null" : parameters.add(time.end, "timestamptz");
    const found = `r.span && tstzrange(${start}, ${end}, '[]')`;
    conditions.push(matchesWithout ? `(r.span is null or ${found})` : found);
  }
  if (filter !== undefined) {
    conditions.push(compileFilter(filter, { parameters, ...(checkProperty && { checkProperty }) }));
  }
  return conditions.filter((condition) => condition !== "true");
}

/** Which collections: those named, of those that the reader may see. `key` is SQL of the only one. */
function compileScope(
  { reader, collections }: SearchRequest,
  parameters: SqlParameters,
): { readonly sql: string; readonly key?: string } {
  const readable = toReadCondition(reader, (value, type) => parameters.add(value, type));
  if (collections === undefined) {
    return {
      sql: readable === "true" ? "true" : `r.collection = any(array(select c.key from collection c where ${readable}))`,
    };
  }
  if (collections.length === 1) {
    const key = `(select c.key from collection c where c.id = ${parameters.add(collections[0], "text")} and ${readable})`;
    return { sql: `r.collection = ${key}`, key };
  }
  return {
    sql: `r.collection = any(array(select c.key from collection c where c.id = any(${parameters.add(collections, "text[]")}) and ${readable}))`,
  };
}

interface CompiledKey {
  readonly sql: string;
  readonly direction: "asc" | "desc";
  /** How a value is sent, so that a token can hold it. */
  readonly output: (sql: string) => string;
  /** PostgreSQL's type of what a token holds. */
  readonly type: string;
  readonly isNullable: boolean;
  /** Only where an order is read backwards: nulls are last in every order. */
  readonly isNullFirst?: boolean;
}

function compileSort(sort: readonly SortKey[] = [{ property: "datetime", direction: "desc" }]): CompiledKey[] {
  if (sort.length > MAX_SORT_KEYS) {
    throw new FilterError(`sortby has ${sort.length} properties; at most ${MAX_SORT_KEYS} are taken`);
  }
  return sort.map(({ property, direction }): CompiledKey => {
    const { sql, type } = toPropertySql(property);
    if (type === "geometry") {
      throw new FilterError("sortby cannot be geometry");
    }
    if (sql === "nullif(r.at, '-infinity')") {
      // The column itself, as the index has it: a record without time is older than all others.
      return {
        sql: "r.at",
        direction,
        output: (value) => `${value}::text`,
        type: "timestamptz",
        isNullable: false,
      };
    }
    switch (type) {
      case "time":
        return {
          sql,
          direction,
          output: (value) => `${value}::text`,
          type: "timestamptz",
          isNullable: true,
        };
      case "number":
        return { sql, direction, output: (value) => value, type: "real", isNullable: true };
      case "json":
        return {
          sql: `nullif(${sql}, 'null'::jsonb)`,
          direction,
          output: (value) => `${value}::text`,
          type: "jsonb",
          isNullable: true,
        };
      default:
        return {
          sql,
          direction,
          output: (value) => value,
          type: "text",
          isNullable: sql !== "r.id",
        };
    }
  });
}

const lastDirection = (keys: readonly CompiledKey[]): "asc" | "desc" => keys[0]?.direction ?? "desc";

/** Records after the token's, in the order of the keys. */
function compileAfter({ after }: SearchRequest, keys: readonly CompiledKey[], parameters: SqlParameters): string[] {
  if (after === undefined) {
    return [];
  }
  if (after.values.length !== keys.length) {
    throw new FilterError("token belongs to a search with another order; follow the links instead of making one");
  }
  const n = `${parameters.add(after.n, "bigint")}`;
  const beyond = lastDirection(keys) === "desc" ? "<" : ">";
  const [only] = keys;
  if (keys.length === 1 && only?.sql === "r.at") {
    return [`(r.at, r.n) ${beyond} (${parameters.add(after.values[0], "timestamptz")}, ${n})`];
  }
  const equals: string[] = [];
  const alternatives: string[] = [];
  for (const [index, { sql, direction, type, isNullFirst }] of keys.entries()) {
    const value = after.values[index];
    if (value === null || value === undefined) {
      if (isNullFirst) {
        alternatives.push([...equals, `${sql} is not null`].join(" and "));
      }
      equals.push(`${sql} is null`);
      continue;
    }
    const placeholder = parameters.add(value, type);
    const further = `${sql} ${direction === "desc" ? "<" : ">"} ${placeholder}`;
    alternatives.push([...equals, isNullFirst ? further : `(${further} or ${sql} is null)`].join(" and "));
    equals.push(`${sql} = ${placeholder}`);
  }
  alternatives.push([...equals, `r.n ${beyond} ${n}`].join(" and "));
  return [`(${alternatives.map((alternative) => `(${alternative})`).join(" or ")})`];
}
