import {
  AGGREGATE_BODY,
  AGGREGATE_PARAMETERS,
  COLLECTION_PARAMETERS,
  ITEMS_PARAMETERS,
  SEARCH_BODY,
  SEARCH_PARAMETERS,
} from "./parameters.ts";
import {
  Aggregations,
  Any,
  Collection,
  Collections,
  Conformance,
  FeatureCollection,
  GEOJSON,
  Item,
  JSON_TYPE,
  Landing,
  type Operations,
  type Schema,
  answer,
  content,
  empty,
  errors,
  object,
  path,
  query,
  text,
} from "./schemas.ts";

const tags = ["stac"];
const page = {
  200: answer("A page of items; links `next` and `prev` lead to the others.", FeatureCollection, GEOJSON),
};
const item = { 200: answer("The item.", Item, GEOJSON) };
const collection = { 200: answer("The collection.", Collection) };
const collections = { 200: answer("Collections.", Collections) };
const PATCHES = ["application/merge-patch+json", JSON_TYPE, "application/json-patch+json"];
const patch = { anyOf: [Any, { type: "array", items: object({ op: { type: "string" }, path: { type: "string" } }) }] };
const visibility = text("Who sees the collection.", { enum: ["public", "workspace"] });
const aggregated = { 200: answer("Values of the aggregations.", Aggregations) };
const catalogue = { 200: answer("A catalogue of links.", Landing) };
const method = text("What happens to items that are there already.", { enum: ["insert", "upsert"], default: "insert" });
const written = { 200: answer("How many items were stored.", Any) };

/** `/stac`: STAC API 1.0 and its extensions. */
export const STAC_OPERATIONS: Operations = {
  "GET /stac": {
    summary: "Landing page",
    tags,
    response: { 200: answer("Links and conformance classes.", Landing), ...errors() },
  },
  "GET /stac/conformance": {
    summary: "Conformance classes",
    tags,
    response: { 200: answer("Addresses of the classes.", Conformance), ...errors(400) },
  },
  "GET /stac/collections": {
    summary: "Search for collections",
    tags,
    querystring: query(COLLECTION_PARAMETERS),
    response: { ...collections, ...errors(400) },
  },
  "POST /stac/collections": {
    summary: "Create a collection",
    tags,
    querystring: query({ workspace: text("The workspace that owns it; the platform when left out."), visibility }),
    body: content(Collection, JSON_TYPE),
    response: { 201: answer("The collection.", Collection), ...errors(400, 401, 403, 409, 413) },
  },
  "GET /stac/collections/:collection": {
    summary: "Read a collection",
    tags,
    params: path("collection"),
    response: { ...collection, ...errors(400, 404) },
  },
  "PUT /stac/collections/:collection": {
    summary: "Replace a collection",
    tags,
    params: path("collection"),
    querystring: query({ visibility }),
    body: content(Collection, JSON_TYPE),
    response: { ...collection, ...errors(400, 401, 403, 404, 412, 413) },
  },
  "PATCH /stac/collections/:collection": {
    summary: "Change a collection",
    description: "A merge patch (RFC 7396) or a JSON patch (RFC 6902).",
    tags,
    params: path("collection"),
    body: content(patch, ...PATCHES),
    response: { ...collection, ...errors(400, 401, 403, 404, 412) },
  },
  "DELETE /stac/collections/:collection": {
    summary: "Delete a collection with its items",
    tags,
    params: path("collection"),
    response: { 204: empty("Deleted."), ...errors(401, 403, 404, 409) },
  },
  "GET /stac/collections/:collection/items": {
    summary: "Search the items of a collection",
    tags,
    params: path("collection"),
    querystring: query(ITEMS_PARAMETERS),
    response: { ...page, ...errors(400, 404) },
  },
  "POST /stac/collections/:collection/items": {
    summary: "Create an item, or several",
    tags,
    params: path("collection"),
    body: content({ anyOf: [Item, FeatureCollection] }, GEOJSON, JSON_TYPE),
    response: { 201: answer("The item.", Item, GEOJSON), ...errors(400, 401, 403, 404, 409, 413) },
  },
  "GET /stac/collections/:collection/items/:id": {
    summary: "Read an item",
    tags,
    params: path("collection", "id"),
    querystring: query({ f: text("`source`: what came, byte for byte.", { enum: ["json", "html", "source"] }) }),
    response: { ...item, ...errors(404) },
  },
  "PUT /stac/collections/:collection/items/:id": {
    summary: "Replace an item",
    tags,
    params: path("collection", "id"),
    body: content(Item, GEOJSON, JSON_TYPE),
    response: { ...item, ...errors(400, 401, 403, 404, 412, 413) },
  },
  "PATCH /stac/collections/:collection/items/:id": {
    summary: "Change an item",
    description: "A merge patch (RFC 7396) or a JSON patch (RFC 6902).",
    tags,
    params: path("collection", "id"),
    body: content(patch, ...PATCHES),
    response: { ...item, ...errors(400, 401, 403, 404, 412) },
  },
  "DELETE /stac/collections/:collection/items/:id": {
    summary: "Delete an item",
    tags,
    params: path("collection", "id"),
    response: { 204: empty("Deleted."), ...errors(401, 403, 404, 412) },
  },
  "GET /stac/collections/:collection/items/:id/assets/:key": {
    summary: "Follow an asset to its file",
    tags,
    params: path("collection", "id", "key"),
    response: { 302: empty("The file's address, signed where it is in the platform's storage."), ...errors(403, 404) },
  },
  "GET /stac/search": {
    summary: "Search for items",
    tags,
    querystring: query(SEARCH_PARAMETERS),
    response: { ...page, ...errors(400) },
  },
  "POST /stac/search": {
    summary: "Search for items",
    description: "Members that are not known have no effect; the header `x-ignored-members` names them.",
    tags,
    body: content(SEARCH_BODY, JSON_TYPE),
    response: { ...page, ...errors(400, 413) },
  },
  "GET /stac/browse": {
    summary: "Browse all collections",
    tags,
    querystring: query({ token: text("Where the page begins.") }),
    response: { ...catalogue, ...errors(400) },
  },
  "GET /stac/collections/:collection/browse": {
    summary: "Browse the items of a collection",
    tags,
    params: path("collection"),
    querystring: query({ token: text("Where the page begins.") }),
    response: { ...catalogue, ...errors(400, 404) },
  },
  "GET /stac/aggregations": {
    summary: "List aggregations",
    tags,
    response: { 200: answer("Names of aggregations.", Aggregations) },
  },
  "GET /stac/collections/:collection/aggregations": {
    summary: "List aggregations of a collection",
    tags,
    params: path("collection"),
    response: { 200: answer("Names of aggregations.", Aggregations) },
  },
  "GET /stac/aggregate": {
    summary: "Aggregate the items that a search matches",
    tags,
    querystring: query(AGGREGATE_PARAMETERS),
    response: { ...aggregated, ...errors(400) },
  },
  "POST /stac/aggregate": {
    summary: "Aggregate the items that a search matches",
    tags,
    body: content(AGGREGATE_BODY, JSON_TYPE),
    response: { ...aggregated, ...errors(400, 413) },
  },
  "GET /stac/collections/:collection/aggregate": {
    summary: "Aggregate the items of a collection",
    tags,
    params: path("collection"),
    querystring: query(AGGREGATE_PARAMETERS),
    response: { ...aggregated, ...errors(400, 404) },
  },
  "PUT /stac/collections/:collection/queryables": {
    summary: "Declare what the collection is filtered by",
    tags,
    params: path("collection"),
    body: content(object({ properties: { type: "object", additionalProperties: true } }, ["properties"]), JSON_TYPE),
    response: { 204: empty("Declared."), ...errors(400, 401, 403, 404, 413) },
  },
  "DELETE /stac/collections/:collection/queryables": {
    summary: "Remove declared queryables",
    tags,
    params: path("collection"),
    response: { 204: empty("Removed."), ...errors(401, 403, 404) },
  },
  "POST /stac/collections/:collection/bulk_items": {
    summary: "Store many items",
    tags,
    params: path("collection"),
    body: content(
      object({ items: { type: "object", additionalProperties: Item }, method } as Schema, ["items"]),
      JSON_TYPE,
    ),
    response: { ...written, ...errors(400, 401, 403, 404, 409, 413) },
  },
  "POST /stac/collections/:collection/items.ndjson": {
    summary: "Store any number of items, one a line",
    tags,
    params: path("collection"),
    querystring: query({ method }),
    body: content({ type: "string" }, "application/x-ndjson", "application/ndjson", "application/geo+json-seq"),
    response: { ...written, ...errors(400, 401, 403, 404, 409) },
  },
};
