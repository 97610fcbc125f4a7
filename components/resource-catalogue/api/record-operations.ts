import { RECORD_PARAMETERS } from "./parameters.ts";
import {
  Any,
  Collection,
  Collections,
  Conformance,
  Feature,
  FeatureCollection,
  GEOJSON,
  JSON_TYPE,
  Landing,
  type Operations,
  answer,
  content,
  empty,
  errors,
  object,
  path,
  query,
  text,
} from "./schemas.ts";

const tags = ["records"];
const SCHEMA = "application/schema+json";
const record = { 200: answer("The record.", Feature, GEOJSON) };
const XML_TYPES = ["application/xml", "text/xml"];
const patch = { anyOf: [Any, { type: "array", items: object({ op: { type: "string" }, path: { type: "string" } }) }] };
const written = {
  description: "A STAC item, an OGC record, or as XML a record of ISO 19139 or Dublin Core.",
  content: {
    [GEOJSON]: { schema: Feature },
    [JSON_TYPE]: { schema: Feature },
    ...Object.fromEntries(XML_TYPES.map((type) => [type, { schema: { type: "string" } }])),
  },
};

/** What is at `/` and below `/stac` alike. */
const queryables = (root: string, group: readonly string[]): Operations =>
  Object.fromEntries(
    ["queryables", "sortables"]
      .flatMap((what) => [
        [
          `GET ${root}/${what}`,
          {
            summary: `Read the ${what} of all records`,
            tags: group,
            response: { 200: answer("A JSON schema of their properties.", Any, SCHEMA), ...errors(400) },
          },
        ],
        [
          `GET ${root}/collections/:collection/${what}`,
          {
            summary: `Read the ${what} of a collection`,
            tags: group,
            params: path("collection"),
            response: { 200: answer("A JSON schema of their properties.", Any, SCHEMA), ...errors(400, 404) },
          },
        ],
      ])
      .concat([
        [
          `GET ${root}/collections-queryables`,
          {
            summary: "Read the queryables of collections themselves",
            tags: group,
            response: { 200: answer("A JSON schema of their properties.", Any, SCHEMA), ...errors(400) },
          },
        ],
      ]),
  ) as Operations;

/** `/`: OGC API Features Part 1, 3 and 4, and Records Part 1. */
export const RECORD_OPERATIONS: Operations = {
  ...queryables("", tags),
  ...queryables("/stac", ["stac"]),
  "GET /": { summary: "Landing page", tags, response: { 200: answer("Links.", Landing), ...errors() } },
  "GET /conformance": {
    summary: "Conformance classes",
    tags,
    response: { 200: answer("Addresses of the classes.", Conformance), ...errors() },
  },
  "GET /collections": {
    summary: "List collections",
    tags,
    response: { 200: answer("Collections.", Collections), ...errors() },
  },
  "GET /collections/:collection": {
    summary: "Read a collection",
    tags,
    params: path("collection"),
    querystring: query({ f: text("Form of the answer.", { enum: ["json", "html"] }) }),
    response: { 200: answer("The collection.", Collection), ...errors(400, 404) },
  },
  "GET /collections/:collection/items": {
    summary: "Search the records of a collection",
    description: "A queryable of the collection is a parameter, too: `platform=sentinel-2a`.",
    tags,
    params: path("collection"),
    querystring: query({ ...RECORD_PARAMETERS, f: text("Form of the answer.", { enum: ["json", "html"] }) }),
    response: {
      200: answer("A page of records; links `next` and `prev` lead to the others.", FeatureCollection, GEOJSON),
      ...errors(400, 404),
    },
  },
  "POST /collections/:collection/items": {
    summary: "Create a record; with CQL2 JSON as the body, search the collection",
    tags,
    params: path("collection"),
    body: written,
    response: {
      200: answer("The records that the filter in the body selects.", FeatureCollection, GEOJSON),
      201: answer("The record.", Feature, GEOJSON),
      ...errors(400, 401, 403, 404, 409, 413),
    },
  },
  "GET /collections/:collection/facets": {
    summary: "Count how often values occur",
    tags,
    params: path("collection"),
    querystring: query(RECORD_PARAMETERS),
    response: { 200: answer("Values and counts by property.", Any), ...errors(400, 404) },
  },
  "GET /collections/:collection/items/:id": {
    summary: "Read a record",
    tags,
    params: path("collection", "id"),
    querystring: query({ f: text("`source`: what came, byte for byte.", { enum: ["json", "html", "source"] }) }),
    response: { ...record, ...errors(404) },
  },
  "PUT /collections/:collection/items/:id": {
    summary: "Replace a record",
    tags,
    params: path("collection", "id"),
    body: written,
    response: { ...record, ...errors(400, 401, 403, 404, 412, 413) },
  },
  "PATCH /collections/:collection/items/:id": {
    summary: "Change a record",
    description: "A merge patch (RFC 7396) or a JSON patch (RFC 6902).",
    tags,
    params: path("collection", "id"),
    body: content(patch, "application/merge-patch+json", JSON_TYPE, "application/json-patch+json"),
    response: { ...record, ...errors(400, 401, 403, 404, 412) },
  },
  "DELETE /collections/:collection/items/:id": {
    summary: "Delete a record",
    tags,
    params: path("collection", "id"),
    response: { 204: empty("Deleted."), ...errors(401, 403, 404, 412) },
  },
  "GET /collections/:collection/items/:id/assets/:key": {
    summary: "Follow an asset to its file",
    tags,
    params: path("collection", "id", "key"),
    response: { 302: empty("The file's address, signed where it is in the platform's storage."), ...errors(403, 404) },
  },
};
