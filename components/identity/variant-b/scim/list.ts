import { ScimError } from "./errors.ts";
import { type Column, compileFilter } from "./filter-sql.ts";
import { parseFilter } from "./filter.ts";

const LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const MAX_COUNT = 500;
const DEFAULT_COUNT = 100;

/** What a client asks of a list (RFC 7644 §3.4.2); the same by GET and by POST to `.search`. */
export interface ListQuery {
  /** Condition and its parameters, from `$2` on; `$1` is the realm. */
  readonly where: string;
  readonly values: readonly unknown[];
  readonly order: string;
  /** Rows before the first one of the page. */
  readonly offset: number;
  readonly count: number;
  readonly attributes: Projection;
}

export interface Projection {
  readonly only: readonly string[];
  readonly without: readonly string[];
}

/** @throws {ScimError} 400 */
export function readListQuery(
  query: Readonly<Record<string, unknown>>,
  columns: Readonly<Record<string, Column>>,
  fallbackOrder: string,
): ListQuery {
  const text = (name: string) => (typeof query[name] === "string" && query[name] !== "" ? query[name] : undefined);
  const number = (name: string, fallback: number) => {
    const value = query[name];
    if (value === undefined || value === "") {
      return fallback;
    }
    if ((typeof value !== "string" && typeof value !== "number") || !/^-?\d{1,9}$/.test(String(value))) {
      throw new ScimError(400, `${name} must be a whole number`, "invalidValue");
    }
    return Number(value);
  };
  const filter = text("filter");
  const compiled = filter === undefined ? { sql: "true", values: [] } : compileFilter(parseFilter(filter), columns, 2);
  const sortBy = text("sortBy")
    ?.toLowerCase()
    .replace(/^urn:[\w:.]+:/, "");
  const column = sortBy === undefined ? undefined : Object.hasOwn(columns, sortBy) ? columns[sortBy] : undefined;
  if (sortBy !== undefined && column === undefined) {
    throw new ScimError(400, `sortBy is ${sortBy}; there are ${Object.keys(columns).join(", ")}`, "invalidPath");
  }
  const direction = text("sortOrder")?.toLowerCase() === "descending" ? "desc" : "asc";
  return {
    where: compiled.sql,
    values: compiled.values,
    order: column === undefined ? fallbackOrder : `${column.sql} ${direction} nulls last, ${fallbackOrder}`,
    offset: Math.max(1, number("startIndex", 1)) - 1,
    count: Math.min(MAX_COUNT, Math.max(0, number("count", DEFAULT_COUNT))),
    attributes: readProjection(query),
  };
}

export function readProjection(query: Readonly<Record<string, unknown>>): Projection {
  const names = (value: unknown) =>
    (Array.isArray(value) ? value.map(String) : typeof value === "string" ? value.split(",") : [])
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== "");
  return { only: names(query["attributes"]), without: names(query["excludedAttributes"]) };
}

/** Leaves out what was not asked for; `schemas` and `id` are always there (RFC 7643 §7, returned "always"). */
export function project(resource: Record<string, unknown>, { only, without }: Projection): Record<string, unknown> {
  const isWanted = (name: string) => {
    const lower = name.toLowerCase();
    const isNamed = (list: readonly string[]) => list.some((item) => item === lower || item.startsWith(`${lower}.`));
    return ["schemas", "id"].includes(lower) || (only.length > 0 ? isNamed(only) : !without.includes(lower));
  };
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isWanted(name)));
}

export function toListResponse(resources: readonly object[], total: number, offset: number): object {
  return {
    schemas: [LIST_SCHEMA],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}
