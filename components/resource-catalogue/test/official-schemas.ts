import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { Ajv } from "ajv";
import addFormats from "ajv-formats";

type Json = Readonly<Record<string, unknown>>;
/** Whether the official schemas take a document. */
export interface Oracle {
  /** Whether the schema of the core takes a document. */
  readonly isCore: (document: Json) => boolean;
  /** Which extensions that it names refuse a document. */
  readonly findRefusing: (document: Json) => readonly string[];
}

const position = { type: "array", minItems: 2, items: { type: "number" } };
const listOf = (items: object, minItems = 0): object => ({ type: "array", minItems, items });
const ring = listOf(position, 4);
const COORDINATES: Readonly<Record<string, object>> = {
  Point: position,
  MultiPoint: listOf(position),
  LineString: listOf(position, 2),
  MultiLineString: listOf(listOf(position, 2)),
  Polygon: listOf(ring),
  MultiPolygon: listOf(listOf(ring)),
};
const shapes = Object.entries(COORDINATES).map(([type, coordinates]) => ({
  type: "object",
  required: ["type", "coordinates"],
  properties: { type: { enum: [type] }, coordinates },
}));
/** RFC 7946, as the schemas at geojson.org say it. */
const geometry = {
  $id: "https://geojson.org/schema/Geometry.json",
  oneOf: [
    ...shapes,
    {
      type: "object",
      required: ["type", "geometries"],
      properties: { type: { enum: ["GeometryCollection"] }, geometries: listOf({ oneOf: shapes }) },
    },
  ],
};
const feature = {
  $id: "https://geojson.org/schema/Feature.json",
  type: "object",
  required: ["type", "properties", "geometry"],
  properties: {
    type: { enum: ["Feature"] },
    id: { oneOf: [{ type: "number" }, { type: "string" }] },
    properties: { oneOf: [{ type: "null" }, { type: "object" }] },
    geometry: { oneOf: [{ type: "null" }, { $ref: "https://geojson.org/schema/Geometry.json" }] },
    bbox: { type: "array", minItems: 4, items: { type: "number" } },
  },
};

/**
 * The official schemas of items and collections, with those of the extensions that a document names.
 * @param folder has `schemas/stac` and `schemas/extensions`
 */
export function openOracle(folder: string): Oracle {
  const ajv = new Ajv({ strict: false, validateFormats: true, logger: false });
  addFormats.default(ajv);
  for (const name of ["iri", "iri-reference"]) {
    ajv.addFormat(name, (text: string) => URL.canParse(text, name === "iri" ? undefined : "https://example.org/a/"));
  }
  ajv.addSchema([geometry, feature]);
  for (const version of ["v0.4", "v0.5", "v0.7"]) {
    ajv.addSchema({ $id: `https://proj.org/schemas/${version}/projjson.schema.json` });
  }
  for (const file of globSync("schemas/stac/*.json", { cwd: folder })) {
    const schema = JSON.parse(readFileSync(join(folder, file), "utf8")) as Json;
    // One of them lacks the point of its name; versions are of the draft that they were written in.
    const spec = /^(?:collection|catalog)\.json$/.test(basename(file)) ? basename(file, ".json") : "item";
    ajv.addSchema(withReleases({ ...schema, $id: `https://schemas.test/${spec}-spec/json-schema/${basename(file)}` }));
  }
  const extensions = new Map<string, Json>();
  for (const file of globSync("schemas/extensions/*.json", { cwd: folder })) {
    extensions.set(
      basename(file, ".json").replace(/-v([\d.]+(?:-[\w.]+)?)$/, "/v$1"),
      JSON.parse(readFileSync(join(folder, file), "utf8")) as Json,
    );
  }
  const compiled = new Map<string, (document: Json) => boolean>();
  const checkExtension = (address: string, document: Json): boolean => {
    const name = /^https:\/\/stac-extensions\.github\.io\/(.+)\/schema\.json$/.exec(address)?.[1] ?? "";
    const schema = extensions.get(name);
    if (schema === undefined) {
      return true;
    }
    if (!compiled.has(name)) {
      const { $id: _id, ...rest } = schema;
      compiled.set(name, ajv.compile({ ...rest, $id: `https://schemas.test/extensions/${name}` }));
    }
    return compiled.get(name)?.(document) ?? true;
  };
  return {
    isCore: (document) => {
      const kind = document["type"] === "Collection" ? "collection" : "item";
      return ajv.getSchema(`https://schemas.test/${kind}-spec/json-schema/${kind}.json`)?.(document) === true;
    },
    findRefusing: ({ stac_extensions: named, ...rest }) =>
      Array.isArray(named)
        ? (named as readonly string[]).filter(
            (address) => !checkExtension(address, { ...rest, stac_extensions: named }),
          )
        : [],
  };
}

/** The schemas are of a draft of 1.1.0; documents of the releases are the same. */
function withReleases(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"const":"1.1.0-beta.1"', '"enum":["1.0.0","1.1.0"]')) as Json;
}
