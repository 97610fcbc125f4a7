import { Type } from "typebox";

import { Assets, COMMON_WITH_BANDS, Extensions, Link, Text, Timestamp, Version, members } from "./common.ts";

const { datetime: _instant, ...shared } = COMMON_WITH_BANDS;

const Bound = Type.Union([Type.Number(), Type.String()]);

/** A STAC collection (STAC 1.1 collection-spec). */
export const Collection = Type.Object({
  ...members(shared),
  type: Type.Literal("Collection"),
  stac_version: Version,
  stac_extensions: Type.Optional(Extensions),
  id: Text,
  description: Text,
  license: Type.String({ pattern: "^[\\w\\-\\.\\+]+$" }),
  extent: Type.Object({
    spatial: Type.Object({
      bbox: Type.Array(Type.Array(Type.Number(), { minItems: 4, maxItems: 6 }), { minItems: 1 }),
    }),
    temporal: Type.Object({
      interval: Type.Array(Type.Array(Type.Union([Timestamp, Type.Null()]), { minItems: 2, maxItems: 2 }), {
        minItems: 1,
      }),
    }),
  }),
  links: Type.Array(Link),
  assets: Type.Optional(Assets),
  item_assets: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object(
        { ...members(COMMON_WITH_BANDS), href: Type.Optional(Type.Never()), type: Type.Optional(Type.String()) },
        { minProperties: 2 },
      ),
    ),
  ),
  summaries: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([
        Type.Array(Type.Unknown(), { minItems: 1 }),
        // A range, or a schema of JSON Schema.
        Type.Object({ minimum: Type.Optional(Bound), maximum: Type.Optional(Bound) }, { minProperties: 1 }),
      ]),
    ),
  ),
});
