import type { Bbox, ColormapSpec, PixelSelection, Range, Scene, TerrainAlgorithm } from "@swath/raster";

/** How a layer is shown. */
export interface LayerStyle {
  readonly id: string;
  readonly title: string;
  /** Over the assets of an item, by their keys. */
  readonly expressions: readonly string[];
  readonly rescale?: readonly Range[];
  readonly colormap?: ColormapSpec;
  readonly terrain?: TerrainAlgorithm;
}

/** What clients can ask for by name: the items of a collection as one picture. */
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
}

export interface LayerItem {
  readonly id: string;
  readonly datetime: string | null;
  readonly bbox: readonly number[] | undefined;
  readonly scene: Scene;
}

/** Who asks: what the catalogue decides by. */
export interface Caller {
  readonly authorization: string | undefined;
}

export type TimeRange = readonly [from: number, to: number];

export interface ItemQuery {
  readonly bbox?: Bbox;
  /** Any of these, in milliseconds. */
  readonly times?: readonly TimeRange[];
  readonly limit: number;
}

/** Where layers come from. Each answer holds only what the caller may see. */
export interface LayerSource {
  readonly list: (caller: Caller, signal?: AbortSignal) => Promise<readonly Layer[]>;
  readonly find: (id: string, caller: Caller, signal?: AbortSignal) => Promise<Layer | undefined>;
  /** Newest first. */
  readonly findItems: (
    layer: Layer,
    query: ItemQuery,
    caller: Caller,
    signal?: AbortSignal,
  ) => Promise<readonly LayerItem[]>;
}
