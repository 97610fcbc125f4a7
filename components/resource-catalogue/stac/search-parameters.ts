import type { FastifyRequest } from "fastify";

import { badParameter } from "../http/errors.ts";
import { parseJson, toText } from "../http/parameters.ts";
import { parseInterval } from "../model/instant.ts";
import { parseCql2Json } from "../query/cql2-json.ts";
import { parseCql2Text } from "../query/cql2-text.ts";
import { type Expression, allOf } from "../query/expression.ts";
import { parseToken } from "../query/page-token.ts";
import { parseBbox, parseGeometry } from "../query/places.ts";
import type { SearchRequest, SortKey } from "../query/search-request.ts";
import { parseTerms } from "../query/words.ts";
import { type Fields, parseFields } from "./fields.ts";
import { parseQuery } from "./query-extension.ts";

/** Parameters of a search as they came: texts of a query string, or members of a JSON body. */
export type RawParameters = Readonly<Record<string, unknown>>;

export interface StacSearch {
  readonly search: Omit<SearchRequest, "reader" | "kinds" | "countUpTo">;
  readonly fields: Fields | undefined;
  /** Members of a body that are not known here, such as those of extensions of other servers (`context`, `conf`); at most ten. */
  readonly ignored: readonly string[];
}

export const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = 10_000;
/** Ids and collections that one search may name. */
const MAX_NAMES = 1000;
const MAX_IGNORED = 10;
const CRS84 = /^https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/(?:1\.3\/CRS84|0\/CRS84h)$/;

const KNOWN = new Set([
  "bbox",
  "datetime",
  "limit",
  "ids",
  "collections",
  "intersects",
  "token",
  "filter",
  "filter-lang",
  "filter-crs",
  "sortby",
  "fields",
  "query",
  "q",
]);

/** The parameters of a search by GET: `intersects` and `query` are JSON, lists have commas. */
export function readQueryString(request: FastifyRequest, allowed: ReadonlySet<string> = KNOWN): RawParameters {
  const raw = request.query as Readonly<Record<string, string | string[]>>;
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    if (!allowed.has(name)) {
      throw badParameter(name, `is not known here; known are ${[...allowed].join(", ")}`);
    }
    if (Array.isArray(value)) {
      throw badParameter(name, "occurs twice");
    }
    read[name] = value;
  }
  return read;
}

/** @throws {Problem | FilterError} naming the parameter at fault and what is expected of it */
export function parseSearch(raw: RawParameters, isBody: boolean): StacSearch {
  const { datetime, token } = raw;
  const place = parsePlace(raw, isBody);
  const ids = parseNames(raw["ids"], "ids", isBody);
  const collections = parseNames(raw["collections"], "collections", isBody);
  const filter = allOf([parseFilter(raw, isBody), parseQuery(raw["query"], isBody), parseFreeText(raw["q"], isBody)]);
  const sort = parseSort(raw["sortby"], isBody);
  return {
    search: {
      limit: parseLimit(raw["limit"]),
      ...(place && { place }),
      ...(datetime !== undefined && datetime !== null && { time: parseDatetime(datetime) }),
      ...(ids && { ids }),
      ...(collections && { collections }),
      ...(filter && { filter }),
      ...(sort && { sort }),
      ...(token !== undefined && token !== null && { after: parseToken(toText(token, "token")) }),
    },
    fields: parseFields(raw["fields"], isBody),
    ignored: isBody ? findIgnored(raw) : [],
  };
}

/** Names that a header can hold: the rest is left out. */
const findIgnored = (raw: RawParameters): readonly string[] =>
  Object.keys(raw)
    .filter((name) => !KNOWN.has(name) && /^[\w:.-]{1,60}$/.test(name))
    .slice(0, MAX_IGNORED);

export function parseLimit(value: unknown, standard = DEFAULT_LIMIT): number {
  if (value === undefined || value === null) {
    return standard;
  }
  const limit = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1) {
    throw badParameter("limit", `must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  return Math.min(limit, MAX_LIMIT);
}

export function parseDatetime(value: unknown): NonNullable<SearchRequest["time"]> {
  const interval = parseInterval(toText(value, "datetime"));
  if (typeof interval === "string") {
    throw badParameter("datetime", interval);
  }
  return interval;
}

function parsePlace({ bbox, intersects }: RawParameters, isBody: boolean): SearchRequest["place"] {
  if (bbox !== undefined && bbox !== null && intersects !== undefined && intersects !== null) {
    throw badParameter("intersects", "must not be given together with bbox");
  }
  if (bbox !== undefined && bbox !== null) {
    return parseBbox(isBody ? requireNumbers(bbox) : parseNumbers(toText(bbox, "bbox")));
  }
  if (intersects === undefined || intersects === null) {
    return undefined;
  }
  return parseGeometry(isBody ? intersects : parseJson(toText(intersects, "intersects"), "intersects"), "intersects");
}

export function parseNumbers(text: string): number[] {
  const parts = text.split(",");
  if (!parts.every((part) => /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(part))) {
    throw badParameter("bbox", "must be 4 or 6 numbers with commas between them");
  }
  return parts.map(Number);
}

function requireNumbers(value: unknown): number[] {
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === "number")) {
    throw badParameter("bbox", "must be a list of 4 or 6 numbers");
  }
  return value;
}

function parseNames(value: unknown, name: string, isBody: boolean): readonly string[] | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const names: readonly unknown[] = isBody && Array.isArray(value) ? value : toText(value, name).split(",");
  if ((isBody && !Array.isArray(value)) || !names.every((entry) => typeof entry === "string")) {
    throw badParameter(name, "must be a list of texts");
  }
  if (names.length > MAX_NAMES) {
    throw badParameter(name, `must have at most ${MAX_NAMES} entries`);
  }
  const provided = names.filter((entry) => entry !== "");
  // An empty list asks for everything, as if it had been left out.
  return provided.length === 0 ? undefined : provided;
}

export function parseFilter(raw: RawParameters, isBody: boolean): Expression | undefined {
  const { filter, "filter-lang": language = isBody ? "cql2-json" : undefined, "filter-crs": crs } = raw;
  if (crs !== undefined && (typeof crs !== "string" || !CRS84.test(crs))) {
    throw badParameter("filter-crs", "must be http://www.opengis.net/def/crs/OGC/1.3/CRS84");
  }
  if (language !== undefined && language !== "cql2-text" && language !== "cql2-json") {
    throw badParameter("filter-lang", "must be cql2-text or cql2-json");
  }
  if (filter === undefined || filter === null || filter === "") {
    return undefined;
  }
  if (language === "cql2-json" || typeof filter === "object") {
    return parseCql2Json(filter);
  }
  const text = toText(filter, "filter");
  return language === undefined && text.trimStart().startsWith("{") ? parseCql2Json(text) : parseCql2Text(text);
}

/** `+datetime,-id` or `[{field, direction}]`. A `+` may have become a blank on its way. */
export function parseSort(value: unknown, isBody: boolean): readonly SortKey[] | undefined {
  if (value === undefined || value === null || value === "") {
    return undefined;
  }
  if (!isBody) {
    return toText(value, "sortby")
      .split(",")
      .map((part): SortKey => {
        const match = /^([+ -]?)(.+)$/.exec(part);
        if (match?.[2] === undefined) {
          throw badParameter(
            "sortby",
            "must be names of properties with commas between them, each with + or - before it",
          );
        }
        return { property: match[2], direction: match[1] === "-" ? "desc" : "asc" };
      });
  }
  if (!Array.isArray(value)) {
    throw badParameter("sortby", "must be a list of objects with field and direction");
  }
  return value.map((entry: unknown): SortKey => {
    const { field, direction = "asc" } = (entry ?? {}) as Record<string, unknown>;
    if (typeof field !== "string" || (direction !== "asc" && direction !== "desc")) {
      throw badParameter("sortby", "must be a list of objects with field, and direction asc or desc");
    }
    return { property: field, direction };
  });
}

function parseFreeText(value: unknown, isBody: boolean): Expression | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const terms: readonly unknown[] = isBody && Array.isArray(value) ? value : toText(value, "q").split(",");
  if (!terms.every((term) => typeof term === "string")) {
    throw badParameter("q", "must be a list of texts");
  }
  const query = parseTerms(terms);
  return query === undefined
    ? { kind: "boolean", value: terms.every((term) => term.trim() === "") }
    : { kind: "words", query };
}
