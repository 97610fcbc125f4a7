import { createHash } from "node:crypto";

import { castProperty, toPropertySql } from "./properties.ts";
import type { QueryableSchema } from "./queryables.ts";

/** Texts are compared by this many characters first: an index takes no long ones. */
export const INDEXED_LENGTH = 200;

/** An index that makes filters on a declared queryable fast. */
export interface QueryableIndex {
  /** What follows the name of the table in its name. */
  readonly name: string;
  /** What is indexed beside the collection, as filters compare it: a column of an index on records. */
  readonly expression: string;
}

/** Names of indexes end like this, and of no others. */
export const QUERYABLE_INDEX_PATTERN = /_q_[0-9a-f]{16}$/;

/** Columns that have an index of their own, or are none. */
const EXCLUDED = new Set(["id", "collection", "geometry", "datetime", "type"]);

/** The index that a queryable is worth; undefined where none would help: lists, true or false, values of several types, a column declared as another type. */
export function toQueryableIndex(property: string, schema: QueryableSchema): QueryableIndex | undefined {
  const { type, format } = schema;
  const isTime = type === "string" && (format === "date-time" || format === "date");
  const kind = type === "number" || type === "integer" ? "number" : isTime ? "time" : type === "string" ? "text" : "";
  if (kind === "" || EXCLUDED.has(property)) {
    return undefined;
  }
  const found = toPropertySql(property);
  if (found.type !== "json" && found.type !== kind) {
    return undefined;
  }
  const sql = castProperty(found, kind, property).replaceAll(/\br\./g, "");
  const expression = kind === "text" ? `(left(${sql}, ${INDEXED_LENGTH})) collate "C"` : `(${sql})`;
  return { name: `_q_${createHash("sha256").update(expression).digest("hex").slice(0, 16)}`, expression };
}
