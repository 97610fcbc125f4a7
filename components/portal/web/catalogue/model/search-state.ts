import { type Box, formatBox, parseBox } from "../../processing/model/areas.ts";

export const SORTS = {
  newest: { label: "Newest first", sortby: [{ field: "properties.datetime", direction: "desc" }] },
  oldest: { label: "Oldest first", sortby: [{ field: "properties.datetime", direction: "asc" }] },
  clouds: { label: "Least cloudy first", sortby: [{ field: "properties.eo:cloud_cover", direction: "asc" }] },
  updated: { label: "Last changed first", sortby: [{ field: "properties.updated", direction: "desc" }] },
} as const;

export type Sort = keyof typeof SORTS;

/** What is searched for. It is in the address of the page, so that a search can be kept and sent. */
export interface SearchState {
  readonly text: string;
  readonly collections: readonly string[];
  readonly box?: Box;
  /** Days, `YYYY-MM-DD`, in UTC. */
  readonly from?: string;
  readonly to?: string;
  /** Highest cloud cover in percent. */
  readonly clouds?: number;
  /** A further condition in CQL2 text. */
  readonly filter: string;
  readonly sort: Sort;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the address. What cannot be understood counts as left out. */
export function readSearchState(query: URLSearchParams): SearchState {
  const bbox = parseBox(query.get("bbox") ?? "");
  const [from, to] = [query.get("from") ?? "", query.get("to") ?? ""];
  const clouds = Number(query.get("clouds") ?? Number.NaN);
  const sort = query.get("sort") ?? "";
  return {
    text: query.get("q") ?? "",
    collections: query.getAll("collection"),
    ...(bbox !== undefined && { box: bbox }),
    ...(DAY.test(from) && { from }),
    ...(DAY.test(to) && { to }),
    ...(clouds >= 0 && clouds <= 100 && { clouds }),
    filter: query.get("filter") ?? "",
    sort: Object.hasOwn(SORTS, sort) ? (sort as Sort) : "newest",
  };
}

export function writeSearchState(state: SearchState): URLSearchParams {
  const { text, collections, box: bbox, from, to, clouds, filter, sort } = state;
  const query = new URLSearchParams();
  const set = (name: string, value: string | undefined) =>
    value !== undefined && value !== "" && query.set(name, value);
  set("q", text.trim());
  collections.forEach((collection) => query.append("collection", collection));
  set("bbox", bbox && formatBox(bbox));
  set("from", from);
  set("to", to);
  set("clouds", clouds === undefined ? undefined : String(clouds));
  set("filter", filter.trim());
  set("sort", sort === "newest" ? undefined : sort);
  return query;
}

export const hasConditions = (state: SearchState): boolean =>
  [...writeSearchState({ ...state, sort: "newest" }).keys()].length > 0;

/** Body of a STAC item search (STAC API 1.0, with the extensions filter, sort and free text). */
export function toSearchBody(state: SearchState): Readonly<Record<string, unknown>> {
  return { ...toConditions(state), sortby: SORTS[state.sort].sortby };
}

/** The same without an order: for aggregations. */
export function toConditions(state: SearchState): Readonly<Record<string, unknown>> {
  const { text, collections, box: bbox, clouds, filter } = state;
  const conditions = [
    ...(clouds === undefined ? [] : [`"eo:cloud_cover" <= ${clouds}`]),
    ...(filter.trim() === "" ? [] : [`(${filter.trim()})`]),
  ];
  const datetime = toInterval(state);
  return {
    ...(text.trim() !== "" && { q: text.trim().split(/\s+/) }),
    ...(collections.length > 0 && { collections }),
    ...(bbox !== undefined && { bbox: bbox }),
    ...(datetime !== undefined && { datetime }),
    ...(conditions.length > 0 && { filter: conditions.join(" AND "), "filter-lang": "cql2-text" }),
  };
}

/** Both days count whole; an end that is left out is open. */
function toInterval({ from, to }: SearchState): string | undefined {
  return from === undefined && to === undefined
    ? undefined
    : `${from === undefined ? ".." : `${from}T00:00:00Z`}/${to === undefined ? ".." : `${to}T23:59:59.999Z`}`;
}
