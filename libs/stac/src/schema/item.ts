import { Type } from "typebox";

import { Assets, COMMON_WITH_BANDS, Extensions, Link, Text, Version, members } from "./common.ts";

/** A STAC item but for its geometry, which whoever stores it reads and checks (STAC 1.1 item-spec). */
export const Item = Type.Object({
  type: Type.Literal("Feature"),
  stac_version: Version,
  stac_extensions: Type.Optional(Extensions),
  id: Text,
  geometry: Type.Union([Type.Null(), Type.Object({ type: Type.String() })]),
  bbox: Type.Optional(Type.Array(Type.Number(), { minItems: 4, maxItems: 6 })),
  properties: Type.Object({
    ...members(COMMON_WITH_BANDS),
    datetime: COMMON_WITH_BANDS["datetime"] as NonNullable<(typeof COMMON_WITH_BANDS)[string]>,
  }),
  links: Type.Array(Link),
  assets: Assets,
  collection: Type.Optional(Text),
});
