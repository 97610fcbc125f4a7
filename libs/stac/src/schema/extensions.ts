import { type TSchema, Type } from "typebox";

import { Timestamp } from "./common.ts";

const range = (minimum: number, maximum: number): TSchema => Type.Number({ minimum, maximum });
const positive = (): TSchema => Type.Integer({ minimum: 1 });
const orNull = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);
const DOI = Type.String({ pattern: "^10\\.[0-9a-zA-Z]{4,}/[^\\s]+$" });
const TEXT = Type.String();

/**
 * Fields of the common extensions, in properties and assets, by the name of the extension in its address
 * (`https://stac-extensions.github.io/<name>/v1.0.0/schema.json`). What all versions have in common; unknown extensions are accepted.
 */
export const EXTENSION_FIELDS: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  eo: { "eo:cloud_cover": range(0, 100), "eo:snow_cover": range(0, 100), "eo:bands": Type.Array(Type.Object({})) },
  view: {
    "view:off_nadir": range(0, 90),
    "view:incidence_angle": range(0, 90),
    "view:azimuth": range(0, 360),
    "view:sun_azimuth": range(0, 360),
    "view:sun_elevation": range(-90, 90),
  },
  projection: {
    "proj:epsg": orNull(Type.Integer()),
    "proj:code": orNull(TEXT),
    "proj:wkt2": orNull(TEXT),
    "proj:projjson": orNull(Type.Object({})),
    "proj:bbox": Type.Array(Type.Number(), { minItems: 4, maxItems: 6 }),
    "proj:centroid": Type.Object({ lat: range(-90, 90), lon: range(-180, 180) }),
    "proj:shape": Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }),
    "proj:transform": Type.Array(Type.Number(), { minItems: 6, maxItems: 9 }),
  },
  sat: {
    "sat:platform_international_designator": TEXT,
    "sat:orbit_state": Type.Enum(["ascending", "descending", "geostationary"]),
    "sat:absolute_orbit": positive(),
    "sat:relative_orbit": positive(),
    "sat:anx_datetime": Type.String({ format: "date-time" }),
  },
  sar: {
    "sar:instrument_mode": Type.String({ minLength: 1 }),
    "sar:frequency_band": Type.Enum(["P", "L", "S", "C", "X", "Ku", "K", "Ka"]),
    "sar:center_frequency": Type.Number(),
    "sar:polarizations": Type.Array(TEXT, { minItems: 1 }),
    "sar:resolution_range": Type.Number({ minimum: 0 }),
    "sar:resolution_azimuth": Type.Number({ minimum: 0 }),
    "sar:pixel_spacing_range": Type.Number({ minimum: 0 }),
    "sar:pixel_spacing_azimuth": Type.Number({ minimum: 0 }),
    "sar:looks_range": Type.Integer({ minimum: 0 }),
    "sar:looks_azimuth": Type.Integer({ minimum: 0 }),
  },
  file: {
    "file:byte_order": Type.Enum(["big-endian", "little-endian"]),
    "file:checksum": Type.String({ pattern: "^[a-f0-9]+$" }),
    "file:header_size": Type.Integer({ minimum: 0 }),
    "file:size": Type.Integer({ minimum: 0 }),
  },
  raster: { "raster:bands": Type.Array(Type.Object({}), { minItems: 1 }) },
  grid: { "grid:code": Type.String({ pattern: "^[A-Z0-9]+-[-_.A-Za-z0-9]+$" }) },
  mgrs: { "mgrs:latitude_band": TEXT, "mgrs:grid_square": TEXT, "mgrs:utm_zone": Type.Integer() },
  processing: {
    "processing:expression": Type.Object({ format: TEXT, expression: Type.Unknown() }),
    "processing:lineage": TEXT,
    "processing:level": TEXT,
    "processing:facility": TEXT,
    "processing:software": Type.Record(TEXT, TEXT),
  },
  scientific: {
    "sci:doi": DOI,
    "sci:citation": TEXT,
    "sci:publications": Type.Array(Type.Object({ doi: Type.Optional(DOI), citation: Type.Optional(TEXT) })),
  },
  timestamps: { published: Timestamp, expires: Timestamp, unpublished: Timestamp },
};
