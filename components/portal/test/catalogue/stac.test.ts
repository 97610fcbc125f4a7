import assert from "node:assert/strict";
import { test } from "node:test";

import { previewPath } from "../../web/catalogue/model/stac.ts";

const item = (asset: { readonly href: string; readonly type?: string }, collection?: string) => ({
  id: "a b",
  type: "Feature" as const,
  geometry: null,
  properties: {},
  assets: { data: asset },
  ...(collection !== undefined && { collection }),
});

test("data access draws pictures of items that have a raster and belong to a collection", () => {
  const path = "/collections/s2__a%20b/map?width=128&f=png";
  assert.equal(previewPath(item({ href: "s3://x/B04.tif" }, "s2"), 128), path);
  assert.equal(
    previewPath(item({ href: "x", type: "image/tiff; application=geotiff; profile=cloud-optimized" }, "s2"), 128),
    path,
  );
  assert.equal(previewPath(item({ href: "s3://x/B04.tif" }), 128), undefined);
  assert.equal(previewPath(item({ href: "s3://x/table.csv", type: "text/csv" }, "s2"), 128), undefined);
});
