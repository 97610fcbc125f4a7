import { DEFAULT_LIMIT, MAX_LIMIT } from "../stac/search-parameters.ts";
import { Geometry, type Schema, text, texts } from "./schemas.ts";

const limit: Schema = {
  type: "integer",
  minimum: 1,
  maximum: MAX_LIMIT,
  default: DEFAULT_LIMIT,
  description: "Results of one page.",
};
const bbox: Schema = {
  type: "array",
  items: { type: "number" },
  minItems: 4,
  maxItems: 6,
  description: "West, south, east and north in degrees, with heights after south and north where wanted.",
};
const datetime = text("A time or an interval, open where it has `..`: `2024-06-01T00:00:00Z/..`");
const filter = text("A filter in CQL2.");
const filterCrs = text("Reference system of the filter's geometries.", {
  enum: ["http://www.opengis.net/def/crs/OGC/1.3/CRS84"],
});
const token = text("Where the page begins, of a link `next` or `prev`.");

/** Of `/collections/{id}/items` (OGC API Features Part 1 §7.15, Records Part 1 §8). */
export const RECORD_PARAMETERS: Schema = {
  limit,
  bbox,
  datetime,
  q: texts("Words or phrases, any of which a record must have."),
  type: texts("Types of records."),
  ids: texts("Identifiers of records."),
  externalIds: texts("Identifiers of other catalogues, `scheme:value` or `value`."),
  filter,
  "filter-lang": text("Language of the filter.", { enum: ["cql2-text", "cql2-json"], default: "cql2-text" }),
  "filter-crs": filterCrs,
  sortby: texts("Properties, `-` before those to sort downwards by."),
  offset: { type: "integer", minimum: 0, maximum: 100_000, description: "Results to leave out." },
  token,
  facets: { type: "boolean", description: "Also how often values occur." },
  "bbox-crs": text("Reference system of `bbox`.", { enum: ["http://www.opengis.net/def/crs/OGC/1.3/CRS84"] }),
  crs: text("Reference system of the answer.", { enum: ["http://www.opengis.net/def/crs/OGC/1.3/CRS84"] }),
};
const STAC_COMMON: Schema = {
  limit,
  bbox,
  datetime,
  ids: texts("Ids of items."),
  q: texts("Words or phrases, any of which an item must have."),
  filter,
  "filter-lang": text("Language of the filter.", { enum: ["cql2-text", "cql2-json"] }),
  "filter-crs": filterCrs,
  sortby: texts("Properties, `-` before those to sort downwards by."),
  fields: texts("Members of items to send, `-` before those to leave out."),
  query: text('Conditions as JSON, `{"eo:cloud_cover": {"lt": 10}}`.'),
  token,
};
/** Of item search by GET (STAC API 1.0 item-search and its extensions). */
export const SEARCH_PARAMETERS: Schema = {
  ...STAC_COMMON,
  collections: texts("Ids of collections."),
  intersects: text("A GeoJSON geometry."),
};
export const ITEMS_PARAMETERS: Schema = {
  ...STAC_COMMON,
  collections: texts("The collection of the address, which some clients name once more."),
};
/** The same as members of a JSON body. */
export const SEARCH_BODY: Schema = {
  type: "object",
  additionalProperties: true,
  properties: {
    limit,
    bbox,
    datetime,
    ids: texts("Ids of items."),
    collections: texts("Ids of collections."),
    intersects: Geometry,
    q: texts("Words or phrases, any of which an item must have."),
    filter: {
      anyOf: [{ type: "object", additionalProperties: true }, { type: "string" }],
      description: "A filter in CQL2.",
    },
    "filter-lang": text("Language of the filter.", { enum: ["cql2-json", "cql2-text"], default: "cql2-json" }),
    "filter-crs": filterCrs,
    sortby: {
      type: "array",
      items: {
        type: "object",
        required: ["field"],
        properties: { field: { type: "string" }, direction: { type: "string", enum: ["asc", "desc"] } },
      },
    },
    fields: {
      type: "object",
      properties: { include: texts("Members to send."), exclude: texts("Members to leave out.") },
    },
    query: { type: "object", additionalProperties: true },
    token,
  },
};
/** Of a collection search by GET (STAC API collection search). */
export const { ids: _ids, ...COLLECTION_PARAMETERS } = STAC_COMMON;
const { limit: _limit, sortby: _sortby, fields: _fields, token: _token, ...AGGREGATED } = SEARCH_PARAMETERS;
const aggregations = texts("Names of aggregations, of `/aggregations`; the total count when left out.");
const frequency = text("Width of the buckets of `datetime_frequency`.", {
  enum: ["day", "month", "year"],
  default: "month",
});
export const AGGREGATE_PARAMETERS: Schema = {
  ...AGGREGATED,
  aggregations,
  datetime_frequency_interval: frequency,
};
export const AGGREGATE_BODY: Schema = {
  ...SEARCH_BODY,
  properties: {
    ...(SEARCH_BODY["properties"] as Schema),
    aggregations,
    datetime_frequency_interval: frequency,
  },
};
