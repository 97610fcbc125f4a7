import { readDocument } from "@swath/raster";
import { Problem } from "@swath/service";
import { type StacItem, isStac, parseStac } from "@swath/stac";

import { stylesOf } from "../styles/styles-of.ts";
import { dimensionsOf } from "./cube.ts";
import type { AddressedItem } from "./layer.ts";
import { type AssetPlaces, locatePublic } from "./locate-asset.ts";
import { toLayerItem } from "./to-layer-item.ts";

const MAX_ITEM_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Reads an item of another catalogue at its address. @throws {Problem} 422, {RasterError} */
export type ReadExternalItem = (url: string, signal?: AbortSignal) => Promise<AddressedItem | undefined>;

interface ExternalItemOptions extends Pick<AssetPlaces, "privateHosts"> {
  readonly allowPublicUrls: boolean;
}

/** What such an item names is read where anybody may read: it has no word about the deployment's own storage and folders. */
export function createExternalItems({ privateHosts, allowPublicUrls }: ExternalItemOptions): ReadExternalItem {
  return async (url, signal) => {
    const location = locatePublic(url, privateHosts, allowPublicUrls);
    if (location === undefined) {
      return undefined;
    }
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const bytes = await readDocument(location, MAX_ITEM_BYTES, signal ? AbortSignal.any([signal, limit]) : limit);
    const document = parseItem(bytes, url);
    if (document === undefined) {
      throw new Problem(422, "There is no STAC item at this address.");
    }
    const item = toLayerItem(document, url, { privateHosts, allowPublicUrls });
    const styles = stylesOf(document, undefined);
    const dimensions = dimensionsOf(document, undefined);
    return { item, layer: { styles, ...(dimensions.length > 0 && { dimensions }) } };
  };
}

function parseItem(bytes: Uint8Array, url: string): StacItem | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const object = isStac(value) ? parseStac(value, url) : undefined;
    return object?.type === "Feature" ? object : undefined;
  } catch {
    return undefined;
  }
}
