import type { StoredRecord } from "./record.ts";

/** A link to pixels of a record. */
export interface ViewLink {
  readonly rel: string;
  readonly href: string;
  readonly type: string;
  readonly title: string;
  /** As ISO 19139 and csw:Record name protocols: OGC:WMS. */
  readonly protocol?: string;
  /** Layers of a WMS (STAC web map links 1.2). */
  readonly "wms:layers"?: readonly string[];
}

export type ViewLinks = (record: StoredRecord) => readonly ViewLink[];

/** A document that has none of these has no assets that data access reads. */
const RASTERS = ["image/tiff", "image/jp2", "netcdf", "x-hdf", "zarr", '.tif"', '.tiff"', '.jp2"', '.nc"'];

/**
 * Links to data access, for items and collections with rasters: picture, map tiles (TileJSON), WMS, coverage and WCS.
 * @param base public address of data access, without a slash at the end; no links where it is not deployed
 */
export function createViewLinks(base: string | undefined): ViewLinks {
  return ({ kind, text, collection, id }) =>
    base === undefined || kind === "r" || !RASTERS.some((sign) => text.includes(sign))
      ? []
      : listLinks(base, kind === "c" ? layerOf(id) : layerOf(collection, id));
}

/** Whether a link was made here, for any address of data access: a client that changes a record sends it back with the record. */
export function isViewLink({ rel, href }: { readonly rel: string; readonly href: string }, layer: string): boolean {
  return RELATIONS.has(rel) && listLinks("", layer).some((made) => made.rel === rel && href.endsWith(made.href));
}

const RELATIONS: ReadonlySet<string> = new Set(listLinks("", "").map(({ rel }) => rel));

/** What data access calls a collection, or an item of one. */
export const layerOf = (collection: string, id?: string): string =>
  id === undefined ? collection : `${collection}__${id}`;

function listLinks(base: string, layer: string): readonly ViewLink[] {
  const path = `${base}/collections/${encodeURIComponent(layer)}`;
  return [
    { rel: "preview", href: `${path}/map.png?width=512`, type: "image/png", title: "Preview" },
    { rel: "tilejson", href: `${path}/WebMercatorQuad/tilejson.json`, type: "application/json", title: "Map tiles" },
    {
      rel: "wms",
      href: `${base}/ows?service=WMS&request=GetCapabilities&layers=${encodeURIComponent(layer)}`,
      type: "image/png",
      title: `WMS, layer ${layer}`,
      protocol: "OGC:WMS",
      "wms:layers": [layer],
    },
    {
      rel: "http://www.opengis.net/def/rel/ogc/1.0/coverage",
      href: `${path}/coverage`,
      type: "image/tiff; application=geotiff",
      title: "Coverage",
    },
    {
      rel: "wcs",
      href: `${base}/ows?service=WCS&version=2.0.1&request=DescribeCoverage&coverageId=${encodeURIComponent(layer)}`,
      type: "application/xml",
      title: `WCS, coverage ${layer}`,
      protocol: "OGC:WCS",
    },
  ];
}
