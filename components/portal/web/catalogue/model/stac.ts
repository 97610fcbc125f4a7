import type { StacItem } from "@swath/ui/stac";

import { bboxOf } from "../../processing/model/areas.ts";

export function cloudCoverOf({ properties }: StacItem): number | undefined {
  const cover = properties["eo:cloud_cover"];
  return typeof cover === "number" ? cover : undefined;
}

/** Address of an item's page in the portal. */
export const itemPath = ({ id, collection = "metadata:main" }: Pick<StacItem, "id" | "collection">): string =>
  `${collectionPath(collection)}/items/${encodeURIComponent(id)}`;

/** Where the pixels of a collection, or of an item `<collection>__<item>`, are looked at. */
export const explorePath = (layer: string): string => `/explore?layer=${encodeURIComponent(layer)}`;

export const collectionPath = (collection: string): string =>
  `/catalogue/collections/${encodeURIComponent(collection)}`;

/**
 * Address at data access of a picture of an item that it may be able to draw: some asset is a raster. Who may not read the item gets none.
 * @param width in pixels; the height follows the shape of the item
 */
export function previewPath({ id, collection, assets = {} }: StacItem, width: number): string | undefined {
  const hasRaster = Object.values(assets).some(
    ({ href, type = "" }) => /tiff|jp2|netcdf|zarr|hdf/i.test(type) || /\.(tiff?|jp2|nc)$/i.test(href),
  );
  return collection === undefined || !hasRaster
    ? undefined
    : `/collections/${encodeURIComponent(`${collection}__${id}`)}/map?width=${width}&f=png`;
}

/** The box around items, where any has a geometry. */
export const boxOfFeatures = (items: readonly StacItem[]) =>
  bboxOf({ type: "GeometryCollection", geometries: items.map(({ geometry }) => geometry) });
