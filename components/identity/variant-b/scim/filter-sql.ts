import { ScimError } from "./errors.ts";
import type { Operator, ScimFilter } from "./filter.ts";

/** What an attribute is in the database. */
export interface Column {
  readonly sql: string;
  readonly type: "text" | "exact" | "boolean" | "time";
}

/** SQL of a filter; its values are parameters from `$<first>` on. */
export interface CompiledFilter {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** @throws {ScimError} 400 invalidFilter for attributes that cannot be searched */
export function compileFilter(
  filter: ScimFilter,
  columns: Readonly<Record<string, Column>>,
  first: number,
): CompiledFilter {
  const values: unknown[] = [];
  const add = (value: unknown): string => {
    values.push(value);
    return `$${first + values.length - 1}`;
  };
  const columnOf = (attribute: string): Column => {
    const column = Object.hasOwn(columns, attribute) ? columns[attribute] : undefined;
    if (column === undefined) {
      const known = Object.keys(columns).join(", ");
      throw new ScimError(400, `attribute ${attribute} cannot be searched; there are ${known}`, "invalidFilter");
    }
    return column;
  };
  const compile = (node: ScimFilter): string => {
    switch (node.kind) {
      case "and":
      case "or":
        return `(${compile(node.left)} ${node.kind} ${compile(node.right)})`;
      case "not":
        return `(not coalesce(${compile(node.inner)}, false))`;
      case "present":
        return `(${columnOf(node.attribute).sql} is not null)`;
      default:
        return compare(columnOf(node.attribute), node.operator, node.value, add);
    }
  };
  return { sql: compile(filter), values };
}

const SIGNS: Partial<Record<Operator, string>> = { gt: ">", ge: ">=", lt: "<", le: "<=" };

function compare(
  column: Column,
  operator: Operator,
  value: string | number | boolean | null,
  add: (value: unknown) => string,
): string {
  if (value === null) {
    return operator === "ne" ? `(${column.sql} is not null)` : `(${column.sql} is null)`;
  }
  if (column.type === "boolean") {
    if (typeof value !== "boolean" || !["eq", "ne"].includes(operator)) {
      throw new ScimError(400, "a truth value is compared by eq or ne with true or false", "invalidFilter");
    }
    return `(${column.sql} ${operator === "eq" ? "=" : "<>"} ${add(value)}::boolean)`;
  }
  if (column.type === "time") {
    const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(time)) {
      throw new ScimError(400, "a time is written like 2026-01-31T12:00:00Z", "invalidFilter");
    }
    const sign = operator === "eq" ? "=" : operator === "ne" ? "<>" : SIGNS[operator];
    if (sign === undefined) {
      throw new ScimError(400, `${operator} does not compare times`, "invalidFilter");
    }
    return `(${column.sql} ${sign} ${add(new Date(time).toISOString())}::timestamptz)`;
  }
  const fold = (sql: string) => (column.type === "exact" ? sql : `lower(${sql})`);
  const left = fold(column.sql);
  const right = fold(`${add(String(value))}::text`);
  switch (operator) {
    case "eq":
      return `(${left} = ${right})`;
    case "ne":
      return `(${left} is distinct from ${right})`;
    case "co":
      return `(strpos(${left}, ${right}) > 0)`;
    case "sw":
      return `(starts_with(${left}, ${right}))`;
    case "ew":
      return `(right(${left}, length(${right})) = ${right})`;
    default:
      return `(${left} ${SIGNS[operator]} ${right})`;
  }
}
