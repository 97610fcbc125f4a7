import type { StacAsset, StacItem, StacLink } from "@swath/stac";

import { findExtensions } from "./extensions.ts";
import type { Footprint } from "./footprint.ts";

interface ItemParts {
  readonly id: string;
  readonly collection: string;
  readonly footprint: Footprint;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets: Readonly<Record<string, StacAsset>>;
  readonly links?: readonly StacLink[];
}

/** An item of STAC 1.1 of its parts; properties without a value are left out. */
export function createItem({ id, collection, footprint, properties, assets, links = [] }: ItemParts): StacItem {
  const provided = Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: findExtensions(provided, assets),
    id,
    geometry: footprint.geometry,
    bbox: footprint.bbox,
    properties: provided,
    links,
    assets,
    collection,
  };
}

export const COPERNICUS_LICENCE: StacLink = {
  rel: "license",
  href: "https://sentinels.copernicus.eu/documents/247904/690755/Sentinel_Data_Legal_Notice",
  title: "Legal notice on the use of Copernicus Sentinel data",
};

export const ESA = {
  name: "ESA",
  roles: ["producer", "processor", "licensor"],
  url: "https://sentinels.copernicus.eu/",
};
