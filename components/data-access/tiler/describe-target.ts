import type { RasterPool } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyRequest } from "fastify";

import { baseUrlOf } from "../http/context.ts";
import type { LayerItem } from "../layers/layer.ts";
import { describeCog } from "./describe-cog.ts";
import type { SceneTarget } from "./scene-target.ts";

/** What `info` of a tiler says of an item: of each of its files. */
export async function describeItem(
  item: LayerItem | undefined,
  pool: RasterPool,
  signal: AbortSignal,
  /** All when left out. */
  names?: readonly string[],
) {
  if (item === undefined) {
    throw new Problem(404, "There is no item with files that can be read.");
  }
  const { assets } = item.scene;
  const unknown = names?.find((name) => assets[name] === undefined);
  if (unknown !== undefined) {
    throw new Problem(
      400,
      `There is no asset "${unknown.slice(0, 50)}"; there are ${Object.keys(assets).slice(0, 50).join(", ")}.`,
    );
  }
  const chosen = Object.entries(assets).filter(([name]) => names?.includes(name) ?? true);
  const entries = await Promise.all(
    chosen.map(async ([key, { location }]) => [key, describeCog(await pool.describe(location, signal))] as const),
  );
  return Object.fromEntries(entries);
}

/** What it says of a mosaic. */
export function describeTarget({ id, title, bounds, styles, layer }: SceneTarget, request: FastifyRequest) {
  const self = `${baseUrlOf(request)}${(request.url.split("?", 1)[0] ?? "").replace(/\/info$/, "")}`;
  return {
    id,
    name: title,
    bounds,
    search: layer?.search,
    styles: styles.map((style) => ({ id: style.id, title: style.title })),
    links: [
      { rel: "self", type: "application/json", href: `${self}/info` },
      { rel: "tilejson", type: "application/json", href: `${self}/{tileMatrixSetId}/tilejson.json`, templated: true },
    ],
  };
}
