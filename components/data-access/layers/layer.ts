import type { Bbox, ColormapSpec, PixelSelection, Range, Resampling, Scene, TerrainAlgorithm } from "@swath/raster";

import type { Basis } from "./basis.ts";

/** How a layer is shown. */
export interface LayerStyle {
  readonly id: string;
  readonly title: string;
  /** Over the assets of an item, by their keys. */
  readonly expressions: readonly string[];
  readonly rescale?: readonly Range[];
  readonly colormap?: ColormapSpec;
  readonly terrain?: TerrainAlgorithm;
  readonly gamma?: number;
  readonly resampling?: Resampling;
  /** Kept in the collection's document by somebody, not made from the bands. */
  readonly isKept?: boolean;
}

/** Which items of the catalogue a layer is made of. */
export interface LayerSearch {
  readonly collections?: readonly string[];
  readonly ids?: readonly string[];
  readonly bbox?: Bbox;
  readonly times?: readonly TimeRange[];
  /** CQL2 JSON or text, and the property conditions of the STAC API, handed on as they came. */
  readonly conditions?: Readonly<Record<string, unknown>>;
}

/** A dimension of files with many variables, beside x and y. */
export interface LayerDimension {
  /** As in the files. */
  readonly name: string;
  readonly kind: "time" | "elevation" | "other";
  /** Coordinates there are, where it is known which. */
  readonly values: readonly string[];
  /** What is shown when nothing is said. */
  readonly preset: string;
  readonly unit?: string;
}

/** What clients can ask for by name: the items of a collection, of a saved search, or one item, as one picture. */
export interface Layer {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly keywords: readonly string[];
  /** Degrees: west, south, east, north. */
  readonly bbox: Bbox;
  readonly interval: readonly [start: string | null, end: string | null];
  /** The first one is the default. */
  readonly styles: readonly LayerStyle[];
  readonly selection: PixelSelection;
  readonly search: LayerSearch;
  /** Left out where its files have none. */
  readonly dimensions?: readonly LayerDimension[];
  readonly kind: "collection" | "item" | "search";
}

export interface LayerItem {
  readonly id: string;
  readonly collection: string | undefined;
  readonly datetime: string | null;
  /** Where it is of a span of time. */
  readonly end?: string;
  readonly bbox: readonly number[] | undefined;
  readonly scene: Scene;
  /** Titles of the assets, where they have one. */
  readonly titles: Readonly<Record<string, string>>;
}

export interface AddressedItem {
  readonly item: LayerItem;
  /** How it is shown; `undefined` where none of its assets is a raster. */
  readonly layer: Pick<Layer, "styles" | "dimensions"> | undefined;
}

/** Who asks, and where: what the catalogue decides by. */
export interface Caller {
  readonly authorization: string | undefined;
  /** Host of this service that the request came to: a workspace's, or the open one. */
  readonly hostname?: string | undefined;
  /** Sources of layers note here what they used. */
  readonly basis?: Basis;
}

export type TimeRange = readonly [from: number, to: number];

export const ITEM_ORDERS = ["newest", "oldest", "least-cloudy"] as const;
export type ItemOrder = (typeof ITEM_ORDERS)[number];

export interface ItemQuery {
  readonly bbox?: Bbox;
  /** Any of these, in milliseconds. */
  readonly times?: readonly TimeRange[];
  readonly limit: number;
  /** `newest` when left out. */
  readonly order?: ItemOrder;
  readonly ids?: readonly string[];
}

/** Where layers come from. Each answer holds only what the caller may see. */
export interface LayerSource {
  readonly list: (caller: Caller, signal?: AbortSignal) => Promise<readonly Layer[]>;
  /** A collection, or an item by `<collection>__<item>` or its id alone. */
  readonly find: (id: string, caller: Caller, signal?: AbortSignal) => Promise<Layer | undefined>;
  /** The layer of a search; `undefined` where it finds nothing. */
  readonly findBySearch: (
    id: string,
    search: LayerSearch,
    caller: Caller,
    signal?: AbortSignal,
  ) => Promise<Layer | undefined>;
  readonly findItems: (
    layer: Pick<Layer, "search">,
    query: ItemQuery,
    caller: Caller,
    signal?: AbortSignal,
  ) => Promise<readonly LayerItem[]>;
  /** Reads an item at an address of the catalogue, or of others where the operator allows it; `undefined` for any other address. */
  readonly findItemAt: (url: string, caller: Caller, signal?: AbortSignal) => Promise<AddressedItem | undefined>;
  /** Keeps a style with its collection, or removes it. Left out where styles cannot be kept. */
  readonly keepStyle?: (
    collection: string,
    id: string,
    document: Readonly<Record<string, unknown>> | null,
    caller: Caller,
  ) => Promise<void>;
}
