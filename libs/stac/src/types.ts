// STAC 1.0 and 1.1 as this project uses it. What reading has checked is typed; every other member is kept and is `unknown`,
// because catalogues of the world carry extensions and flaws that must survive a round trip.

/** A link of any STAC object (STAC 1.1 item-spec "Link Object"). `href` may be relative. */
export interface StacLink {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
  readonly title?: string;
  readonly [member: string]: unknown;
}

/** A file of an item or a collection (STAC 1.1 "Asset Object"). `href` may be relative. */
export interface StacAsset {
  readonly href: string;
  readonly type?: string;
  readonly title?: string;
  readonly roles?: readonly string[];
  readonly "file:size"?: number;
  /** Multihash in hexadecimal, e.g. `1220…` for SHA-256 (file extension 2.1). */
  readonly "file:checksum"?: string;
  readonly [member: string]: unknown;
}

/** Assets by their key. */
export type StacAssets = Readonly<Record<string, StacAsset>>;

/** A GeoJSON feature with a date and assets: one scene or one result. */
export interface StacItem {
  readonly type: "Feature";
  readonly stac_version: string;
  readonly id: string;
  readonly geometry: unknown;
  readonly bbox?: readonly number[];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly links: readonly StacLink[];
  readonly assets: StacAssets;
  readonly collection?: string;
  readonly [member: string]: unknown;
}

/** A folder of other STAC objects. */
export interface StacCatalog {
  readonly type: "Catalog";
  readonly stac_version: string;
  readonly id: string;
  readonly description: string;
  readonly title?: string;
  readonly links: readonly StacLink[];
  readonly [member: string]: unknown;
}

/** Where and when the items of a collection lie; the first box and interval cover all others. */
export interface StacExtent {
  readonly spatial: { readonly bbox: readonly (readonly number[])[] };
  readonly temporal: { readonly interval: readonly (readonly (string | null)[])[] };
}

/** A catalogue with licence and extent. */
export interface StacCollection {
  readonly type: "Collection";
  readonly stac_version: string;
  readonly id: string;
  readonly description: string;
  readonly title?: string;
  readonly license: string;
  readonly extent: StacExtent;
  readonly links: readonly StacLink[];
  readonly assets?: StacAssets;
  readonly [member: string]: unknown;
}

/** A page of items, as searches and `items` endpoints answer it. */
export interface StacItemCollection {
  readonly type: "FeatureCollection";
  readonly features: readonly StacItem[];
  readonly links: readonly StacLink[];
  readonly [member: string]: unknown;
}

export type StacObject = StacItem | StacCatalog | StacCollection | StacItemCollection;
