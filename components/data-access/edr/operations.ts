import type { OperationSchema } from "@swath/service/openapi";

const text = (description: string) => ({ type: "string", description });
const COORDS = (form: string) => text(`Well-known text: ${form}, in the order of axes of crs`);
const DISTANCE = (what: string, units: string) => ({ type: "number", description: `${what}, in ${units}` });
const UNITS = { type: "string", description: "m, km, mi or nmi" };
const BOX = {
  type: "array",
  items: { type: "number" },
  minItems: 4,
  maxItems: 4,
  description: "The lower and the upper corner, in the order of axes of crs",
};
const COMMON = {
  "parameter-name": text("Bands, separated by commas; all where left out"),
  datetime: text("An instant, or an interval: 2023-01-01/2023-02-01"),
  crs: text("System of coordinates of coords, bbox and answers; CRS84 where left out"),
};
const FORM = { type: "string", enum: ["CoverageJSON", "CSV"], description: "CoverageJSON where left out" };

/** What the OpenAPI document says of the queries (OGC 19-086r6, table 12); requests are checked where they are answered. */
export const EDR_OPERATIONS: Readonly<Record<string, OperationSchema>> = Object.fromEntries(
  Object.entries({
    position: ["Values over time at points", { coords: COORDS("POINT or MULTIPOINT"), ...COMMON, f: FORM }, ["coords"]],
    area: ["Values of an area", { coords: COORDS("POLYGON or MULTIPOLYGON"), ...COMMON }, ["coords"]],
    radius: [
      "Values around a point",
      { coords: COORDS("POINT"), within: DISTANCE("Radius", "within-units"), "within-units": UNITS, ...COMMON },
      ["coords", "within", "within-units"],
    ],
    cube: [
      "Values of a box",
      {
        bbox: BOX,
        ...COMMON,
        "resolution-x": { type: "integer", description: "Columns" },
        "resolution-y": { type: "integer", description: "Rows" },
      },
      ["bbox"],
    ],
    trajectory: ["Values along a line", { coords: COORDS("LINESTRING"), ...COMMON, f: FORM }, ["coords"]],
    corridor: [
      "Values within half of a width of a line",
      {
        coords: COORDS("LINESTRING"),
        "corridor-width": DISTANCE("Width", "width-units"),
        "width-units": UNITS,
        "corridor-height": DISTANCE("Height; values on the ground are in a corridor of any", "height-units"),
        "height-units": UNITS,
        ...COMMON,
      },
      ["coords", "corridor-width", "width-units"],
    ],
    "locations/:location": ["Values over time in the middle of a geohash's cell", { ...COMMON, f: FORM }, []],
    locations: [
      "Geohashes that cover the collection",
      {
        bbox: BOX,
        limit: { type: "integer", description: "Up to 1000; 100 where left out" },
      },
      [],
    ],
    items: [
      "Scenes, each with the address of its values",
      {
        bbox: BOX,
        datetime: COMMON.datetime,
        limit: { type: "integer", description: "Up to 1000; 10 where left out" },
      },
      [],
    ],
  } as const).map(([path, [summary, properties, required]]) => [
    `GET /collections/:collection/${path}`,
    {
      summary,
      tags: ["edr"],
      params: {
        type: "object",
        properties: {
          collection: text("A collection, or an item as collection__item"),
          ...(path.includes(":") && { location: text("A geohash") }),
        },
      },
      querystring: { type: "object", style: "form", explode: false, properties, required },
    },
  ]),
);
