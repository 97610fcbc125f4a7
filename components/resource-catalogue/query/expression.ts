/**
 * A filter as every interface of the catalogue hands it to `compileFilter`: CQL2 in both encodings, Filter Encoding, the parameters of
 * OpenSearch and of STAC's `query` are parsed into it. It has the shape of CQL2 JSON (OGC 21-065r2 §10), with literals told apart.
 */
export type Expression =
  | { readonly kind: "property"; readonly name: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "boolean"; readonly value: boolean }
  /** `value` in UTC with microseconds, as `parseInstant` gives it. */
  | { readonly kind: "timestamp"; readonly value: string }
  /** A whole day in UTC, `2020-12-31`. */
  | { readonly kind: "date"; readonly value: string }
  /** Ends are timestamps, dates, properties; `undefined` where open. */
  | { readonly kind: "interval"; readonly start: Expression | undefined; readonly end: Expression | undefined }
  | { readonly kind: "geometry"; readonly geometry: unknown }
  | { readonly kind: "bbox"; readonly bbox: readonly number[] }
  | { readonly kind: "array"; readonly items: readonly Expression[] }
  /** Words in the order that `matchWords` of the query gives them; only the catalogue's own interfaces make it. */
  | { readonly kind: "words"; readonly query: WordQuery }
  /** A member that is a list holds objects with all members of these; only the catalogue's own interfaces make it. */
  | { readonly kind: "json-contains"; readonly name: string; readonly list: readonly object[] }
  | { readonly kind: "call"; readonly op: Operator; readonly args: readonly Expression[] };

/** Free text: which words a record must have. */
export type WordQuery =
  | { readonly all: readonly WordQuery[] }
  | { readonly any: readonly WordQuery[] }
  | { readonly not: WordQuery }
  /** Words that follow each other; the last one may go on where `isPrefix` is true. */
  | { readonly phrase: readonly string[]; readonly isPrefix?: boolean };

export const LOGICAL = ["and", "or", "not"] as const;
export const COMPARISONS = ["=", "<>", "<", ">", "<=", ">="] as const;
export const ARITHMETIC = ["+", "-", "*", "/", "%", "div", "^"] as const;
/** `s_equals`, `s_touches`, `s_crosses` and `s_overlaps` are not among what the catalogue declares. */
export const SPATIAL = ["s_intersects", "s_disjoint", "s_within", "s_contains"] as const;
export const TEMPORAL = [
  "t_after",
  "t_before",
  "t_contains",
  "t_disjoint",
  "t_during",
  "t_equals",
  "t_finishedBy",
  "t_finishes",
  "t_intersects",
  "t_meets",
  "t_metBy",
  "t_overlappedBy",
  "t_overlaps",
  "t_startedBy",
  "t_starts",
] as const;
export const ARRAY = ["a_equals", "a_contains", "a_containedBy", "a_overlaps"] as const;
const OTHERS = ["like", "between", "in", "isNull", "casei", "accenti"] as const;

export const OPERATORS = [
  ...LOGICAL,
  ...COMPARISONS,
  ...ARITHMETIC,
  ...SPATIAL,
  ...TEMPORAL,
  ...ARRAY,
  ...OTHERS,
] as const;
export type Operator = (typeof OPERATORS)[number];

/** A filter that cannot be taken; its message says where and what is expected, for the client. */
export class FilterError extends Error {
  override readonly name = "FilterError";
}

/** Characters of a filter, and operators inside each other and in all of it. */
export const MAX_FILTER_LENGTH = 64 * 1024;
export const MAX_FILTER_DEPTH = 64;
/** Comparisons, functions that give true or false: PostgreSQL plans each of them. */
export const MAX_FILTER_CONDITIONS = 250;
/** The same of a parsed filter, where each term of a sum or product holds the one before it. */
export const MAX_EXPRESSION_DEPTH = 400;
export const MAX_FILTER_NODES = 10_000;

export const call = (op: Operator, ...args: readonly Expression[]): Expression => ({ kind: "call", op, args });
export const property = (name: string): Expression => ({ kind: "property", name });

/** All of the given filters; `undefined` where there is none. */
export function allOf(filters: readonly (Expression | undefined)[]): Expression | undefined {
  const present = filters.filter((filter) => filter !== undefined);
  return present.length <= 1 ? present[0] : call("and", ...present);
}
