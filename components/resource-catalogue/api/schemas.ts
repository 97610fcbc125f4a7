import type { OperationSchema } from "@swath/service/openapi";

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;
export type Operations = Readonly<Record<string, OperationSchema>>;

export const text = (description: string, more: Schema = {}): Schema => ({ type: "string", description, ...more });
export const texts = (description: string, more: Schema = {}): Schema => ({
  type: "array",
  items: { type: "string" },
  description,
  ...more,
});
export const object = (properties: Schema, required: readonly string[] = []): Schema => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: true,
});
const listOf = (items: Schema): Schema => ({ type: "array", items });

const Link = object(
  {
    rel: { type: "string" },
    href: { type: "string" },
    type: { type: "string" },
    title: { type: "string" },
    method: { type: "string", enum: ["GET", "POST"] },
  },
  ["rel", "href"],
);
const links = listOf(Link);
const bbox = { type: "array", items: { type: "number" }, minItems: 4, maxItems: 6 };
export const Geometry = object(
  {
    type: {
      type: "string",
      enum: ["Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"],
    },
  },
  ["type"],
);

/** A GeoJSON feature: a STAC item, or an OGC record. */
export const Feature = object(
  {
    type: { type: "string", enum: ["Feature"] },
    id: { type: "string" },
    geometry: { anyOf: [Geometry, { type: "null" }] },
    bbox,
    properties: { type: "object", additionalProperties: true },
    links,
  },
  ["type", "geometry", "properties"],
);
export const Item = {
  ...Feature,
  properties: {
    ...(Feature["properties"] as Schema),
    stac_version: { type: "string" },
    collection: { type: "string" },
    assets: { type: "object", additionalProperties: object({ href: { type: "string" } }, ["href"]) },
  },
};
export const FeatureCollection = object(
  {
    type: { type: "string", enum: ["FeatureCollection"] },
    features: listOf(Feature),
    links,
    numberMatched: { type: "integer", minimum: 0 },
    numberReturned: { type: "integer", minimum: 0 },
    timeStamp: { type: "string", format: "date-time" },
  },
  ["type", "features"],
);
export const Collection = object(
  {
    type: { type: "string" },
    id: { type: "string" },
    title: { type: "string" },
    description: { type: "string" },
    license: { type: "string" },
    keywords: listOf({ type: "string" }),
    extent: object({
      spatial: object({ bbox: listOf(bbox) }),
      temporal: object({ interval: listOf(listOf({ type: ["string", "null"] })) }),
    }),
    links,
  },
  ["id", "links"],
);
export const Collections = object(
  {
    collections: listOf(Collection),
    links,
    numberMatched: { type: "integer" },
    numberReturned: { type: "integer" },
  },
  ["collections", "links"],
);
export const Landing = object({ title: { type: "string" }, description: { type: "string" }, links }, ["links"]);
export const Conformance = object({ conformsTo: listOf({ type: "string" }) }, ["conformsTo"]);
export const Aggregations = object({ type: { type: "string" }, aggregations: listOf(object({})), links }, [
  "aggregations",
]);
export const Any = object({});
const Problem = object(
  {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string" },
    description: { type: "string" },
  },
  ["title", "status"],
);

export const GEOJSON = "application/geo+json";
export const JSON_TYPE = "application/json";

export const content = (schema: Schema, ...types: readonly string[]): Schema => ({
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
});
export const answer = (description: string, schema: Schema, ...types: readonly string[]): Schema => ({
  description,
  ...content(schema, ...(types.length === 0 ? [JSON_TYPE] : types)),
});
export const empty = (description: string): Schema => ({ description, type: "null" });

const REASONS: Readonly<Record<number, string>> = {
  400: "A parameter or the document is wrong; `detail` says which and what is allowed.",
  401: "The request needs a login.",
  403: "The caller may not change this.",
  404: "There is nothing of that name, or the caller may not see it.",
  409: "Something of that name is there already, or is being changed.",
  410: "These changes are not kept any more.",
  412: "It was changed since the version that If-Match names.",
  413: "The body is too large.",
};

/** Answers to what is wrong (RFC 9457), and to what cannot be done just now. */
export const errors = (...codes: readonly number[]): Readonly<Record<number, Schema>> => ({
  ...Object.fromEntries(
    codes.map((code) => [code, answer(REASONS[code] ?? "Error", Problem, "application/problem+json")]),
  ),
  503: answer("Something that the catalogue needs is away; try again later.", Problem, "application/problem+json"),
});

/** Parameters of a query string; lists have commas. */
export const query = (properties: Schema): Schema => ({ type: "object", style: "form", explode: false, properties });
export const path = (...names: readonly (keyof typeof PATH)[]): Schema => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, PATH[name]])),
});
const PATH = {
  collection: text("Id of a collection."),
  id: text("Id of an item, a record, a key or a subscription."),
  key: text("Name of an asset."),
};
