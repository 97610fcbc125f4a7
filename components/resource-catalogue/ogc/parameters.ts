import { badParameter } from "../http/errors.ts";
import { type Expression, allOf, call, property } from "../query/expression.ts";
import { parseToken } from "../query/page-token.ts";
import { parseBbox } from "../query/places.ts";
import { CORE_QUERYABLES } from "../query/queryables.ts";
import type { SearchRequest } from "../query/search-request.ts";
import { parseTerms } from "../query/words.ts";
import { parseDatetime, parseFilter, parseLimit, parseNumbers, parseSort } from "../stac/search-parameters.ts";

const CRS84 = /^(?:https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/(?:1\.3\/CRS84|0\/CRS84h)|\[OGC:CRS84h?\])$/;
const MAX_OFFSET = 100_000;
const KNOWN = new Set([
  "bbox",
  "bbox-crs",
  "crs",
  "datetime",
  "limit",
  "offset",
  "startindex",
  "q",
  "type",
  "ids",
  "externalIds",
  "filter",
  "filter-lang",
  "filter-crs",
  "sortby",
  "token",
  "f",
  "facets",
  "profile",
]);

export interface RecordSearch {
  readonly search: Omit<SearchRequest, "reader" | "kinds" | "countUpTo" | "collections">;
  readonly hasFacets: boolean;
}

/**
 * The parameters of `/collections/{id}/items` (Features Part 1 §7.15, Part 3; Records Part 1 §8). A queryable is a parameter, too:
 * `platform=sentinel-2a`.
 * @throws {Problem | FilterError} naming the parameter at fault and what is expected of it
 */
export function parseRecordSearch(
  raw: Readonly<Record<string, string>>,
  queryables: ReadonlySet<string>,
): RecordSearch {
  const tests: (Expression | undefined)[] = [];
  for (const [name, value] of Object.entries(raw)) {
    if (KNOWN.has(name)) {
      continue;
    }
    if (!Object.hasOwn(CORE_QUERYABLES, name) && !queryables.has(name)) {
      throw badParameter(
        name,
        `is not known here; known are ${[...KNOWN].join(", ")} and the queryables of the collection`,
      );
    }
    tests.push(toTest(name, value));
  }
  for (const name of ["bbox-crs", "crs"]) {
    if (raw[name] !== undefined && !CRS84.test(raw[name])) {
      throw badParameter(name, "must be http://www.opengis.net/def/crs/OGC/1.3/CRS84, the only one here");
    }
  }
  const { bbox, datetime, q, type, ids, externalIds, token, facets } = raw;
  const words = q === undefined ? undefined : parseTerms(q.split(","));
  const offset = parseOffset(raw["offset"] ?? raw["startindex"]);
  const sort = parseSort(raw["sortby"], false);
  const filter = allOf([
    parseFilter(raw, false),
    words && { kind: "words", query: words },
    type === undefined ? undefined : call("in", property("type"), toList(type)),
    externalIds === undefined ? undefined : toExternalIds(externalIds),
    ...tests,
  ]);
  return {
    search: {
      limit: parseLimit(raw["limit"]),
      matchesWithout: true,
      ...(bbox !== undefined && { place: parseBbox(parseNumbers(bbox)) }),
      ...(datetime !== undefined && { time: parseDatetime(datetime) }),
      ...(ids !== undefined && { ids: ids.split(",").filter((id) => id !== "") }),
      ...(filter && { filter }),
      ...(sort && { sort }),
      ...(token !== undefined && { after: parseToken(token) }),
      ...(offset > 0 && { offset }),
    },
    hasFacets: facets !== undefined && facets !== "false",
  };
}

function parseOffset(value: string | undefined): number {
  if (value === undefined) {
    return 0;
  }
  if (!/^\d{1,9}$/.test(value) || Number(value) > MAX_OFFSET) {
    throw badParameter("offset", `must be a whole number up to ${MAX_OFFSET}; follow the links next to go further`);
  }
  return Number(value);
}

const toList = (text: string): Expression => ({
  kind: "array",
  items: text.split(",").map((value) => ({ kind: "string", value })),
});

/** A value that looks like a number is compared as one, or as a text. */
function toTest(name: string, value: string): Expression {
  const asText = call("=", property(name), { kind: "string", value });
  const { type, format } = CORE_QUERYABLES[name] ?? {};
  if (type === "string" || format !== undefined) {
    return asText;
  }
  const isNumber = value.trim() !== "" && Number.isFinite(Number(value));
  const asNumber = call("=", property(name), { kind: "number", value: Number(value) });
  return type === "number" ? asNumber : isNumber ? call("or", asText, asNumber) : asText;
}

/** `scheme:value` or `value`, of the member `externalIds` of records. */
function toExternalIds(text: string): Expression {
  const alternatives = text.split(",").map((entry) => {
    const colon = entry.indexOf(":");
    const whole = contains([{ value: entry }]);
    return colon > 0
      ? call("or", whole, contains([{ scheme: entry.slice(0, colon), value: entry.slice(colon + 1) }]))
      : whole;
  });
  return alternatives.length === 1 ? (alternatives[0] as Expression) : call("or", ...alternatives);
}

const contains = (list: readonly object[]): Expression => ({ kind: "json-contains", name: "externalIds", list });
