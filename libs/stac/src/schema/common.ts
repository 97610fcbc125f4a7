import { type TSchema, Type } from "typebox";

import "./formats.ts";

/** A text that is not empty. */
export const Text = Type.String({ minLength: 1 });
export const Texts = Type.Array(Type.String());
/** RFC 3339, in UTC (STAC common metadata "Date and Time"). */
export const Timestamp = Type.String({ format: "date-time", pattern: "(\\+00:00|Z)$" });

/** What the values of an asset or a band are (STAC common metadata "Data Values"). */
export const DATA_VALUES = {
  data_type: Type.Enum([
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "cint16",
    "cint32",
    "cfloat32",
    "cfloat64",
    "other",
  ]),
  nodata: Type.Union([Type.Number(), Type.Enum(["nan", "inf", "-inf"])]),
  statistics: Type.Object(
    {
      minimum: Type.Optional(Type.Number()),
      maximum: Type.Optional(Type.Number()),
      mean: Type.Optional(Type.Number()),
      stddev: Type.Optional(Type.Number({ minimum: 0 })),
      count: Type.Optional(Type.Integer({ minimum: 0 })),
      valid_percent: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
    },
    { minProperties: 1 },
  ),
  unit: Type.String(),
};

/** Members that items' properties, assets, links, bands and collections share; none is required. */
export const COMMON: Readonly<Record<string, TSchema>> = {
  title: Type.String(),
  description: Text,
  keywords: Texts,
  roles: Texts,
  datetime: Type.Union([Timestamp, Type.Null()]),
  start_datetime: Timestamp,
  end_datetime: Timestamp,
  created: Timestamp,
  updated: Timestamp,
  platform: Type.String(),
  instruments: Texts,
  constellation: Type.String(),
  mission: Type.String(),
  gsd: Type.Number({ exclusiveMinimum: 0 }),
  license: Type.String({ pattern: "^[\\w\\-\\.\\+]+$" }),
  providers: Type.Array(
    Type.Object({
      name: Text,
      description: Type.Optional(Type.String()),
      roles: Type.Optional(Type.Array(Type.Enum(["producer", "licensor", "processor", "host"]))),
      url: Type.Optional(Type.String({ format: "iri" })),
    }),
  ),
  ...DATA_VALUES,
};

/** An object that may have any of the given members, each as it must be, and any others. */
export function members(schemas: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, Type.Optional(schema)]));
}

const Band = Type.Object(members({ ...COMMON, name: Type.String() }));

/** Common metadata with bands. */
export const COMMON_WITH_BANDS: Readonly<Record<string, TSchema>> = { ...COMMON, bands: Type.Array(Band) };

export const Link = Type.Object({
  ...members(COMMON_WITH_BANDS),
  href: Type.String({ minLength: 1, format: "iri-reference" }),
  rel: Text,
  type: Type.Optional(Type.String()),
  method: Type.Optional(Type.String({ pattern: "^[A-Z]+$" })),
  headers: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Texts]))),
});

export const Asset = Type.Object({
  ...members(COMMON_WITH_BANDS),
  href: Type.String({ minLength: 1, format: "iri-reference" }),
  description: Type.Optional(Text),
  type: Type.Optional(Type.String()),
});

export const Assets = Type.Record(Type.String(), Asset);
export const Extensions = Type.Array(Type.String({ format: "iri" }), { uniqueItems: true });
/** Of the two versions that are written; older ones are migrated before. */
export const Version = Type.String({ pattern: "^1\\.[01]\\.\\d+(-[\\w.]+)?$" });
