import { type SceneAsset, toVariable } from "@swath/raster";
import { type StacItem, resolveHref } from "@swath/stac";

import { isRasterAsset } from "../styles/make-styles.ts";
import type { LayerItem } from "./layer.ts";
import { type AssetPlaces, locateAsset } from "./locate-asset.ts";

/** The part of an item that pixels come from. Assets that may not be read are left out. */
export function toLayerItem(item: StacItem, base: string, places: AssetPlaces): LayerItem {
  const assets: Record<string, SceneAsset> = {};
  const titles: Record<string, string> = {};
  for (const [key, asset] of Object.entries(item.assets)) {
    if (!isRasterAsset(asset)) {
      continue;
    }
    const location = locateAsset(resolveAsset(asset.href, base), places);
    if (location !== undefined) {
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
    }
  }
  const { datetime, start_datetime: start } = item.properties;
  return {
    id: item.id,
    collection: item.collection,
    datetime: typeof datetime === "string" ? datetime : typeof start === "string" ? start : null,
    bbox: item.bbox,
    scene: { assets },
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
