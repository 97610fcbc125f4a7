import type { InputDescription, ProcessDescription, Schema } from "./describe.ts";

const one = { minOccurs: 0, maxOccurs: 1 };
const BBOX: Schema = {
  type: "object",
  format: "ogc-bbox",
  required: ["bbox"],
  properties: {
    bbox: {
      type: "array",
      items: { type: "number" },
      oneOf: [
        { minItems: 4, maxItems: 4 },
        { minItems: 6, maxItems: 6 },
      ],
    },
    crs: { type: "string", format: "uri", default: "http://www.opengis.net/def/crs/OGC/1.3/CRS84" },
  },
};
const GEOMETRY: Schema = {
  type: "object",
  format: "geojson-geometry",
  contentMediaType: "application/geo+json",
  required: ["type"],
  properties: {
    type: {
      type: "string",
      enum: ["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection"],
    },
    coordinates: { type: "array", items: {} },
  },
};
const FEATURES: Schema = {
  type: "object",
  format: "geojson-feature-collection",
  contentMediaType: "application/geo+json",
  required: ["type", "features"],
  properties: {
    type: { type: "string", enum: ["FeatureCollection"] },
    features: { type: "array", items: { type: "object" } },
  },
};
const image = (contentMediaType: string): Schema => ({ type: "string", contentEncoding: "base64", contentMediaType });

/** One input of every kind that the standard's example of an echo process has (OGC 18-062r2 §7.10.2). */
const INPUTS: Readonly<Record<string, InputDescription>> = {
  message: { title: "A text; comes back under the same name", schema: { type: "string" }, ...one },
  pause: {
    title: "Seconds to wait",
    schema: { type: "number", minimum: 0, maximum: 60, default: 0 },
    ...one,
  },
  stringInput: { title: "A text", schema: { type: "string" }, ...one },
  measureInput: {
    title: "A number with a unit",
    schema: {
      type: "object",
      properties: {
        measurement: { type: "number" },
        uom: { type: "string" },
        reference: { type: "string", format: "uri" },
      },
    },
    ...one,
  },
  dateInput: { title: "A date and time", schema: { type: "string", format: "date-time" }, ...one },
  doubleInput: {
    title: "A number from 0 to 10",
    schema: { type: "number", format: "double", minimum: 0, maximum: 10, default: 5 },
    ...one,
  },
  arrayInput: {
    title: "A list of 2 to 10 whole numbers",
    schema: { type: "array", minItems: 2, maxItems: 10, items: { type: "integer" } },
    ...one,
  },
  complexObjectInput: {
    title: "An object",
    schema: {
      type: "object",
      properties: {
        property1: { type: "string" },
        property2: { type: "string", format: "uri" },
        property3: { type: "number" },
        property4: { type: "string", format: "date-time" },
        property5: { type: "boolean" },
      },
    },
    ...one,
  },
  geometryInput: {
    title: "Geometries",
    schema: { oneOf: [GEOMETRY, { type: "string", contentMediaType: "application/gml+xml; version=3.2" }] },
    minOccurs: 0,
    maxOccurs: 5,
  },
  boundingBoxInput: { title: "A bounding box", schema: BBOX, ...one },
  imagesInput: {
    title: "Images",
    schema: { oneOf: [image("image/tiff; application=geotiff"), image("image/png"), image("image/jp2")] },
    minOccurs: 0,
    maxOccurs: 150,
  },
  featureCollectionInput: {
    title: "Features",
    schema: { oneOf: [FEATURES, { type: "string", contentMediaType: "application/gml+xml; version=3.2" }] },
    ...one,
  },
};

/** Says how long it takes, and does not come back. */
export const PAUSE = "pause";

/** `stringInput` comes back as `stringOutput`. */
export const outputOf = (input: string): string => input.replace("Input", "Output");

/** The built-in process: gives back what it is given; for trying a client. */
export const ECHO: ProcessDescription = {
  id: "echo",
  title: "Echo",
  description: "Gives its inputs back as outputs: one of every kind. For trying a client.",
  version: "1.0.0",
  mutable: false,
  keywords: ["test"],
  jobControlOptions: ["sync-execute", "async-execute", "dismiss"],
  outputTransmission: ["value", "reference"],
  inputs: INPUTS,
  outputs: Object.fromEntries(
    Object.entries(INPUTS)
      .filter(([name]) => name !== PAUSE)
      .map(([name, { title, schema, maxOccurs = 1 }]) => [
        outputOf(name),
        { title, schema: maxOccurs > 1 ? { type: "array", items: schema } : schema },
      ]),
  ),
};
