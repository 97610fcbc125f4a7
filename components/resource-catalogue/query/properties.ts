import { FilterError } from "./expression.ts";
import { quoteLiteral } from "./sql.ts";

export type SqlType = "text" | "number" | "boolean" | "time" | "geometry" | "json" | "interval";

/** A property as it is read in SQL. */
export interface PropertySql {
  readonly sql: string;
  readonly type: SqlType;
}

const MAX_NAME_LENGTH = 200;

/** Properties that are columns. `r` is the record, and the collection's id is looked up by its key. */
const COLUMNS = new Map<string, PropertySql>([
  ["id", { sql: "r.id", type: "text" }],
  ["collection", { sql: "(select c.id from collection c where c.key = r.collection)", type: "text" }],
  ["geometry", { sql: "geometry", type: "geometry" }],
  ["datetime", { sql: "nullif(r.at, '-infinity')", type: "time" }],
  ["type", { sql: '(r.type collate "C")', type: "text" }],
  ["eo:cloud_cover", { sql: "r.cloud", type: "number" }],
]);
/** Where the document does not say it, the catalogue does. */
const COMPLETED = new Map([
  ["created", "r.made_at"],
  ["updated", "r.changed_at"],
]);

/**
 * How a property is read. Of those that are no columns the type is known only when they are compared: `json`.
 * Names may be written with `properties.` before them, as the sort and query extensions do.
 */
export function toPropertySql(name: string): PropertySql {
  const short = shortName(name);
  const column = COLUMNS.get(short);
  if (column !== undefined) {
    return column;
  }
  const completed = COMPLETED.get(short);
  return completed === undefined
    ? { sql: toMemberSql(short), type: "json" }
    : { sql: `coalesce(moment(r.properties->${quoteLiteral(short)}), ${completed})`, type: "time" };
}

/** A member of the properties by its name; where it has dots and no member is called so, by its path. */
function toMemberSql(name: string): string {
  const steps = name.split(".").map((step) => `->${quoteLiteral(step)}`);
  return steps.length === 1
    ? `(r.properties${steps.join("")})`
    : `coalesce(r.properties->${quoteLiteral(name)}, r.properties${steps.join("")})`;
}

/** @throws {FilterError} for names that cannot be one */
export function shortName(name: string): string {
  const short = name.startsWith("properties.") ? name.slice("properties.".length) : name;
  if (short === "" || short.length > MAX_NAME_LENGTH || short.includes("\0")) {
    throw new FilterError(
      `a property's name has 1 to ${MAX_NAME_LENGTH} characters, not ${JSON.stringify(short.slice(0, 60))}`,
    );
  }
  return short;
}

/** A property read as the type that it is compared with. @throws {FilterError} for one that always has another type */
export function castProperty({ sql, type }: PropertySql, requested: SqlType, name: string): string {
  if (type !== "json") {
    if (type !== requested) {
      throw new FilterError(`${name.slice(0, 60)} is a ${type}, where a ${requested} is expected`);
    }
    return sql;
  }
  switch (requested) {
    case "text":
      return `txt(${sql})`;
    case "number":
      return `num(${sql})`;
    case "boolean":
      return `bool(${sql})`;
    case "time":
      return `moment(${sql})`;
    case "json":
    case "geometry":
    case "interval":
      return sql;
  }
}
