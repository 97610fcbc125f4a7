import { type TSchema, Type } from "typebox";

import { DATA_VALUES, Timestamp, members } from "./common.ts";

const range = (minimum: number, maximum: number): TSchema => Type.Number({ minimum, maximum });
const positive = (): TSchema => Type.Integer({ minimum: 1 });
const orNull = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);
const DOI = Type.String({ pattern: "^10\\.[0-9a-zA-Z]{4,}/[^\\s]+$" });
const TEXT = Type.String();

const SPECTRAL_BAND = Type.Object(
  members({
    name: TEXT,
    common_name: Type.Enum([
      "coastal",
      "blue",
      "green",
      "red",
      "rededge",
      "rededge071",
      "rededge075",
      "rededge078",
      "green05",
      "yellow",
      "pan",
      "nir",
      "nir08",
      "nir09",
      "cirrus",
      "swir16",
      "swir22",
      "lwir",
      "lwir11",
      "lwir12",
    ]),
    description: Type.String({ minLength: 1 }),
    center_wavelength: Type.Number(),
    full_width_half_max: Type.Number(),
    solar_illumination: Type.Number({ minimum: 0 }),
  }),
  { minProperties: 1 },
);
const RASTER_BAND = Type.Object(
  members({
    ...DATA_VALUES,
    bits_per_sample: Type.Integer(),
    sampling: Type.Enum(["area", "point"]),
    scale: Type.Number(),
    offset: Type.Number(),
    spatial_resolution: Type.Number(),
    histogram: Type.Object({
      count: Type.Number(),
      min: Type.Number(),
      max: Type.Number(),
      buckets: Type.Array(Type.Integer(), { minItems: 3 }),
    }),
  }),
  { minProperties: 1 },
);

/**
 * Fields of the common extensions, in properties and assets, by the name of the extension in its address
 * (`https://stac-extensions.github.io/<name>/v1.0.0/schema.json`). What all versions have in common, and with `/v1` what only those of a
 * major version have; unknown extensions are accepted.
 */
export const EXTENSION_FIELDS: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  eo: { "eo:cloud_cover": range(0, 100), "eo:snow_cover": range(0, 100) },
  "eo/v1": { "eo:bands": Type.Array(SPECTRAL_BAND, { minItems: 1 }) },
  view: {
    "view:off_nadir": range(0, 90),
    "view:incidence_angle": range(0, 90),
    "view:azimuth": range(0, 360),
    "view:sun_azimuth": range(0, 360),
    "view:sun_elevation": range(-90, 90),
  },
  projection: {
    "proj:code": orNull(TEXT),
    "proj:wkt2": orNull(TEXT),
    "proj:projjson": orNull(Type.Object({})),
    "proj:bbox": Type.Array(Type.Number(), { minItems: 4, maxItems: 6 }),
    "proj:centroid": Type.Object({ lat: range(-90, 90), lon: range(-180, 180) }),
    "proj:shape": Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }),
    "proj:transform": Type.Array(Type.Number(), { minItems: 6, maxItems: 9 }),
  },
  "projection/v1": { "proj:epsg": orNull(Type.Integer()) },
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
  "raster/v1": { "raster:bands": Type.Array(RASTER_BAND, { minItems: 1 }) },
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
