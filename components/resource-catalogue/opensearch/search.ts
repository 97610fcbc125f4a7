import { badParameter } from "../http/errors.ts";
import { toCircle } from "../model/circle.ts";
import { parseInstant } from "../model/instant.ts";
import { cleanDate } from "../model/xml-record.ts";
import { type Expression, FilterError, allOf, call, property } from "../query/expression.ts";
import { parseCql2Text } from "../query/cql2-text.ts";
import { parseBbox } from "../query/places.ts";
import type { SearchRequest } from "../query/search-request.ts";
import { parseTerms } from "../query/words.ts";
import { toEoFilter } from "./eo-filters.ts";

export const MAX_COUNT = 1000;
const DEFAULT_COUNT = 10;
const MAX_START = 1_000_000_000;

/** A page of OpenSearch. */
export interface OpenSearch {
  readonly search: Pick<SearchRequest, "filter" | "place" | "ids" | "collections" | "time">;
  readonly count: number;
  /** Number of the first record, from 1 on. */
  readonly startIndex: number;
}

/** @throws {Problem | FilterError} naming the parameter at fault */
export function parseOpenSearch(parameters: ReadonlyMap<string, string>): OpenSearch {
  const count = readWhole(parameters, "count", DEFAULT_COUNT, 0);
  const page = parameters.has("startPage") ? readWhole(parameters, "startPage", 1, 1) : 1;
  const startIndex = parameters.has("startIndex")
    ? readWhole(parameters, "startIndex", 1, 1)
    : (page - 1) * Math.min(count, MAX_COUNT) + 1;
  const bbox = parameters.get("bbox");
  const relation = parameters.get("relation") ?? "intersects";
  const uid = parameters.get("uid");
  const parent = parameters.get("parentIdentifier");
  const isPlain = relation === "intersects" && bbox !== undefined;
  const filter = allOf([
    isPlain
      ? undefined
      : toPlaceFilter(relation, bbox === undefined ? readShape(parameters) : { kind: "bbox", bbox: readNumbers(bbox) }),
    isPlain ? toPlaceFilter(relation, readShape(parameters)) : undefined,
    toTimeFilter(parameters),
    toWordFilter(parameters.get("q")),
    toEoFilter(parameters),
  ]);
  return {
    count: Math.min(count, MAX_COUNT),
    startIndex: Math.min(startIndex, MAX_START),
    search: {
      ...(isPlain && { place: parseBbox(readNumbers(bbox)) }),
      ...(uid !== undefined && { ids: [uid] }),
      ...(parent !== undefined && { collections: [parent] }),
      ...(filter && { filter }),
    },
  };
}

function readWhole(parameters: ReadonlyMap<string, string>, name: string, standard: number, minimum: number): number {
  const text = parameters.get(name);
  if (text !== undefined && (!/^\d{1,9}$/.test(text) || Number(text) < minimum)) {
    throw badParameter(name, `must be a whole number from ${minimum} on`);
  }
  return text === undefined ? standard : Number(text);
}

function readNumbers(text: string): number[] {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length !== 4 || !parts.every((part) => /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(part))) {
    throw badParameter("bbox", "must be 4 numbers, west,south,east,north");
  }
  return parts.map(Number);
}

/** A geometry, or a circle around a point. */
function readShape(parameters: ReadonlyMap<string, string>): Expression | undefined {
  const [wkt, lat, lon, radius] = ["geometry", "lat", "lon", "radius"].map((name) => parameters.get(name));
  if (wkt !== undefined) {
    return readWkt(wkt);
  }
  if (lat === undefined && lon === undefined && radius === undefined) {
    return undefined;
  }
  const circle =
    lat === undefined || lon === undefined ? undefined : toCircle(Number(lon), Number(lat), Number(radius ?? 1));
  if (circle === undefined) {
    throw badParameter("lat", "must be given with lon and, in metres and up to 20,000,000, radius");
  }
  return { kind: "geometry", geometry: circle };
}

function readWkt(text: string): Expression {
  const parsed = parseCql2Text(`S_INTERSECTS(geometry, ${text})`);
  const [, place] =
    parsed.kind === "call" && parsed.op === "s_intersects" && parsed.args.length === 2 ? parsed.args : [];
  if (place?.kind !== "geometry") {
    throw new FilterError("geometry must be a geometry as WKT, POLYGON((10 45, 11 45, 11 46, 10 45))");
  }
  return place;
}

function toPlaceFilter(relation: string, place: Expression | undefined): Expression | undefined {
  const ops = { intersects: "s_intersects", contains: "s_within", disjoint: "s_disjoint" } as const;
  const op = Object.hasOwn(ops, relation) ? ops[relation as keyof typeof ops] : undefined;
  if (op === undefined) {
    throw badParameter("relation", `must be one of ${Object.keys(ops).join(", ")}`);
  }
  return place && call(op, property("geometry"), place);
}

/** `start` and `end`, or `time=start/end` as clients of CSW 3.0 send it. */
function toTimeFilter(parameters: ReadonlyMap<string, string>): Expression | undefined {
  const [from, to = from] = parameters.get("time")?.split("/") ?? [];
  const start = readTime("start", parameters.get("start") ?? from, false);
  const end = readTime("end", parameters.get("end") ?? to, true);
  if (start === undefined && end === undefined) {
    return undefined;
  }
  if (start !== undefined && end !== undefined && start.value > end.value) {
    throw badParameter("end", "must not be before start");
  }
  const interval: Expression = { kind: "interval", start, end };
  const subject = property("datetime");
  const relation = parameters.get("timeRelation") ?? "intersects";
  switch (relation) {
    case "intersects":
      return call("t_intersects", subject, interval);
    case "disjoint":
      return call("t_disjoint", subject, interval);
    case "equals":
      return call("t_equals", subject, interval);
    case "during":
      // No part of the record is before or after it.
      return allOf([
        call("t_intersects", subject, interval),
        start &&
          call("not", call("t_intersects", subject, { kind: "interval", start: undefined, end: step(start, -1) })),
        end && call("not", call("t_intersects", subject, { kind: "interval", start: step(end, 1), end: undefined })),
      ]);
    case "contains":
      return allOf([start && call("t_intersects", subject, start), end && call("t_intersects", subject, end)]);
    default:
      throw badParameter("timeRelation", "must be one of intersects, during, contains, disjoint, equals");
  }
}

type Timestamp = Extract<Expression, { readonly kind: "timestamp" }>;

/** A microsecond later or earlier. */
function step({ value }: Timestamp, by: 1 | -1): Timestamp {
  const micro = Number(value.slice(20, 26)) + by;
  const whole = micro < 0 ? -1 : micro > 999_999 ? 1 : 0;
  const seconds = new Date(Date.parse(`${value.slice(0, 19)}Z`) + whole * 1000).toISOString().slice(0, 19);
  return { kind: "timestamp", value: `${seconds}.${String((micro + 1_000_000) % 1_000_000).padStart(6, "0")}Z` };
}

function readTime(name: string, text: string | undefined, isEnd: boolean): Timestamp | undefined {
  if (text === undefined || text === "" || text === "..") {
    return undefined;
  }
  const clean = cleanDate(text, isEnd);
  const value =
    clean === undefined
      ? undefined
      : parseInstant(clean.length === 10 ? `${clean}T${isEnd ? "23:59:59.999999" : "00:00:00"}Z` : clean);
  if (value === undefined) {
    throw badParameter(name, "must be a date or a date-time, 2020-12-31 or 2020-12-31T23:59:59Z");
  }
  return { kind: "timestamp", value };
}

function toWordFilter(text: string | undefined): Expression | undefined {
  if (text === undefined || text.trim() === "" || text.trim() === "*") {
    return undefined;
  }
  // Words in any order; those in quotes follow each other.
  const terms = [...text.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([whole, phrase]) => phrase ?? whole);
  const queries = terms.flatMap((term) => parseTerms([term]) ?? []);
  return queries.length === 0 ? { kind: "boolean", value: false } : { kind: "words", query: { all: queries } };
}
