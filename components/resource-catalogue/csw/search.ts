import { parseElements } from "@swath/xml";

import { parseInterval } from "../model/instant.ts";
import { cleanDate } from "../model/xml-record.ts";
import { type Expression, FilterError, allOf } from "../query/expression.ts";
import { readFilterParameters } from "../opensearch/parameters.ts";
import { parseOpenSearch } from "../opensearch/search.ts";
import { parseBbox } from "../query/places.ts";
import type { SearchRequest, SortKey } from "../query/search-request.ts";
import { parseTerms } from "../query/words.ts";
import { childrenOf, childOf, textOf } from "../xml/element.ts";
import { isLatitudeFirst } from "../xml/gml.ts";
import { parseCqlText } from "./cql-text.ts";
import { parseFilterXml } from "./filter-xml.ts";
import type { CswInput } from "./input.ts";
import { NO_MAIN_RECORDS } from "./kinds.ts";
import { OwsError } from "./ows-error.ts";
import { toSortKey } from "./queryables.ts";
import { toCatalogue } from "./to-catalogue.ts";

type Search = Pick<SearchRequest, "filter" | "place" | "time" | "ids" | "sort" | "collections"> &
  Pick<Partial<SearchRequest>, "kinds">;

/** What a GetRecords request looks for. @throws {OwsError | FilterError | Problem} */
export function readSearch(input: CswInput): Search {
  const { parameters } = input;
  const words = parameters.get("q");
  const ids = parameters
    .get("recordids")
    ?.split(",")
    .filter((id) => id !== "");
  const bbox = parameters.get("bbox");
  const time = parameters.get("time");
  const terms = words === undefined || words.trim() === "" ? undefined : parseTerms([words.replaceAll(/[*%]/g, " ")]);
  const filters = readFilters(input);
  const { search: opened } = parseOpenSearch(filters);
  const filter = allOf([readFilter(input), terms && { kind: "words", query: terms }, opened.filter, NO_MAIN_RECORDS]);
  const sort = readSort(input);
  return {
    ...opened,
    ...(filters.has("parentIdentifier") && { kinds: ["i", "r"] }),
    ...(filter && { filter }),
    ...(ids && ids.length > 0 && { ids }),
    ...(bbox && !filters.has("relation") && { place: parseBbox(readBbox(bbox)) }),
    ...(time && !filters.has("timeRelation") && { time: readTime(time) }),
    ...(sort && { sort }),
  };
}

/** Parameters of OpenSearch among the key-value pairs, with the box and the time where a relation says how they lie. */
function readFilters({ parameters, document }: CswInput): ReadonlyMap<string, string> {
  if (document !== undefined) {
    return new Map();
  }
  const filters = new Map(readFilterParameters(parameters));
  const crs = parameters.get("geometry_crs");
  if (crs && isLatitudeFirst(crs)) {
    throw new OwsError(
      "InvalidParameterValue",
      "geometry_crs",
      "The parameter geometry_crs must be urn:ogc:def:crs:OGC:1.3:CRS84, whose positions have longitude first.",
    );
  }
  const [bbox, time] = [parameters.get("bbox"), parameters.get("time")];
  if (bbox && filters.has("relation")) {
    filters.set("bbox", readBbox(bbox).join(","));
  }
  if (time && filters.has("timeRelation")) {
    filters.set("time", time);
  }
  return filters;
}

/** The constraint as a filter of the catalogue. */
function readFilter({ constraint, parameters }: CswInput): Expression | undefined {
  if (constraint === undefined) {
    return undefined;
  }
  if (constraint.filter !== undefined) {
    const parsed = parseFilterXml(constraint.filter);
    return parsed && toCatalogue(parsed);
  }
  const text = constraint.cql ?? "";
  const language = parameters.get("constraintlanguage")?.toUpperCase();
  if (language !== undefined && language !== "CQL_TEXT" && language !== "FILTER") {
    throw new OwsError(
      "InvalidParameterValue",
      "constraintLanguage",
      "The parameter constraintLanguage must be CQL_TEXT or FILTER.",
    );
  }
  if (language === "FILTER" || (language === undefined && text.trimStart().startsWith("<"))) {
    if (text.length > 64 * 1024) {
      throw new FilterError("the constraint has more than 65,536 characters");
    }
    const parsed = parseFilterXml(parseElements(text));
    return parsed && toCatalogue(parsed);
  }
  return toCatalogue(parseCqlText(text));
}

function readSort({ parameters, sortBy }: CswInput): readonly SortKey[] | undefined {
  if (sortBy !== undefined) {
    return childrenOf(sortBy, "SortProperty").map((entry) => {
      const name = textOf(childOf(entry, "PropertyName") ?? childOf(entry, "ValueReference"));
      if (name === undefined) {
        throw new OwsError(
          "InvalidParameterValue",
          "SortBy",
          "SortProperty must hold a PropertyName or ValueReference.",
        );
      }
      return toSortKey(name, toDirection(textOf(childOf(entry, "SortOrder"))));
    });
  }
  const text = parameters.get("sortby");
  return text === undefined || text === ""
    ? undefined
    : text.split(",").map((part) => {
        const match = /^(.+?)(?::(A|D|ASC|DESC))?$/i.exec(part.trim());
        return toSortKey(match?.[1] ?? part, toDirection(match?.[2]));
      });
}

function toDirection(text: string | undefined): "asc" | "desc" {
  switch (text?.toUpperCase()) {
    case undefined:
    case "A":
    case "ASC":
      return "asc";
    case "D":
    case "DESC":
      return "desc";
    default:
      throw new OwsError(
        "InvalidParameterValue",
        "SortBy",
        `The sort order must be ASC or DESC, not ${JSON.stringify(text?.slice(0, 60))}.`,
      );
  }
}

/** `west,south,east,north`, or in the order of the reference system that follows. */
function readBbox(text: string): readonly number[] {
  const parts = text.split(",");
  const [a = 0, b = 0, c = 0, d = 0] = parts
    .slice(0, 4)
    .map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (parts.length < 4 || parts.length > 5) {
    throw new OwsError(
      "InvalidParameterValue",
      "bbox",
      "The parameter bbox must have 4 numbers, and a reference system if wanted.",
    );
  }
  return parts[4] !== undefined && isLatitudeFirst(parts[4]) ? [b, a, d, c] : [a, b, c, d];
}

function readTime(text: string): NonNullable<SearchRequest["time"]> {
  const ends = text.split("/").map((part, index) => {
    const day = cleanDate(part, index === 1);
    return day === undefined
      ? part
      : day.length === 10
        ? `${day}T${index === 1 ? "23:59:59.999999" : "00:00:00"}Z`
        : day;
  });
  const only = cleanDate(text);
  const interval = parseInterval(only?.length === 10 ? `${ends[0]}/${only}T23:59:59.999999Z` : ends.join("/"));
  if (typeof interval === "string") {
    throw new OwsError("InvalidParameterValue", "time", `The parameter time ${interval}.`);
  }
  return interval;
}
