import { type SceneAsset, toVariable } from "@swath/raster";
import { type StacItem, resolveHref } from "@swath/stac";

import { isRasterAsset } from "../styles/make-styles.ts";
import { dimensionsOf, isCubeAsset, isZarrAsset, variablesOf } from "./cube.ts";
import type { LayerItem } from "./layer.ts";
import { type AssetPlaces, locateAsset } from "./locate-asset.ts";
import { placeScene } from "./place-scene.ts";

/** The part of an item that pixels come from. Assets that may not be read are left out. */
export function toLayerItem(item: StacItem, base: string, places: AssetPlaces): LayerItem {
  const assets: Record<string, SceneAsset> = {};
  const titles: Record<string, string> = {};
  for (const [key, asset] of Object.entries(item.assets)) {
    if (!isRasterAsset(asset)) {
      continue;
    }
    const located = locateAsset(resolveAsset(asset.href, base), places);
    if (located !== undefined) {
      const location = isZarrAsset(asset) ? { ...located, format: "zarr" as const } : located;
      const names = (
        Array.isArray(asset["bands"]) ? asset["bands"] : Array.isArray(asset["eo:bands"]) ? asset["eo:bands"] : []
      ) as readonly { name?: unknown }[];
      assets[toVariable(key)] = {
        location,
        bandNames: names.map(({ name }) => (typeof name === "string" ? name : "")),
      };
      if (asset.title !== undefined) {
        titles[toVariable(key)] = asset.title;
      }
      for (const { name, expression } of isCubeAsset(asset) ? variablesOf(key, asset, item) : []) {
        assets[expression] = { location, variable: name, bandNames: [name] };
      }
    }
  }
  const { datetime, start_datetime: start, end_datetime: end } = item.properties;
  return {
    id: item.id,
    collection: item.collection,
    datetime: typeof datetime === "string" ? datetime : typeof start === "string" ? start : null,
    ...(typeof datetime !== "string" && typeof end === "string" && { end }),
    bbox: item.bbox,
    scene: placeScene({ assets }, { dimensions: dimensionsOf(item, undefined) }, {}),
    titles,
  };
}

/** Addresses of assets may be relative to the item's. */
export function resolveAsset(href: string, base: string): string {
  try {
    return resolveHref(href, base);
  } catch {
    return href;
  }
}
