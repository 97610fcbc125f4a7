import { bboxOf } from "../../processing/model/areas.ts";

/** What the pages read of a STAC link. */
export interface StacLink {
  readonly rel: string;
  readonly href: string;
  readonly title?: string;
  readonly type?: string;
  readonly method?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface StacAsset {
  readonly href: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly roles?: readonly string[];
  readonly "file:size"?: number;
}

export interface StacItem {
  readonly id: string;
  readonly collection?: string;
  readonly geometry: unknown;
  readonly bbox?: readonly number[];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets?: Readonly<Record<string, StacAsset>>;
  readonly links?: readonly StacLink[];
}

export interface StacCollection {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly license?: string;
  readonly keywords?: readonly string[];
  readonly extent?: {
    readonly spatial?: { readonly bbox?: readonly (readonly number[])[] };
    readonly temporal?: { readonly interval?: readonly (readonly (string | null)[])[] };
  };
  readonly providers?: readonly { readonly name: string; readonly url?: string; readonly roles?: readonly string[] }[];
  readonly links?: readonly StacLink[];
}

/** A page of a search. The service counts up to a limit, so `numberMatched` may be a lower bound. */
export interface ItemPage {
  readonly features: readonly StacItem[];
  readonly numberMatched?: number;
  readonly links?: readonly StacLink[];
}

export const titleOf = ({ id, properties }: StacItem): string =>
  typeof properties["title"] === "string" && properties["title"] !== "" ? properties["title"] : id;

/** The time of an item: its instant, or the begin of its interval. */
export function timeOf({ properties }: StacItem): string | undefined {
  const time = properties["datetime"] ?? properties["start_datetime"];
  return typeof time === "string" ? time : undefined;
}

export function cloudCoverOf({ properties }: StacItem): number | undefined {
  const cover = properties["eo:cloud_cover"];
  return typeof cover === "number" ? cover : undefined;
}

/** Address of an item's page in the portal. */
export const itemPath = ({ id, collection = "metadata:main" }: StacItem): string =>
  `${collectionPath(collection)}/items/${encodeURIComponent(id)}`;

/** Where the pixels of a collection, or of an item `<collection>__<item>`, are looked at. */
export const explorePath = (layer: string): string => `/explore?layer=${encodeURIComponent(layer)}`;

export const collectionPath = (collection: string): string =>
  `/catalogue/collections/${encodeURIComponent(collection)}`;

/** Assets that a page can show as a picture, the best for a small one first. */
export function pictureAssets({ assets = {} }: StacItem): readonly StacAsset[] {
  const rank = ({ roles = [] }: StacAsset): number =>
    roles.includes("thumbnail") ? 0 : roles.includes("overview") ? 1 : 2;
  return Object.values(assets)
    .filter(({ type = "" }) => /^image\/(png|jpeg|webp|gif)$/.test(type))
    .toSorted((a, b) => rank(a) - rank(b));
}

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

/** Properties that are worth a line: no nested ones, none that a page shows elsewhere. */
export function listProperties({ properties }: StacItem): readonly (readonly [name: string, value: string])[] {
  const shownElsewhere = new Set(["title", "description", "datetime", "start_datetime", "end_datetime"]);
  return Object.entries(properties)
    .filter(([name, value]) => !shownElsewhere.has(name) && value !== null && value !== "")
    .flatMap(([name, value]): (readonly [string, string])[] => {
      if (Array.isArray(value)) {
        return value.every((item) => typeof item !== "object") ? [[name, value.join(", ")]] : [];
      }
      return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? [[name, String(value)]]
        : [];
    })
    .toSorted(([a], [b]) => a.localeCompare(b));
}
