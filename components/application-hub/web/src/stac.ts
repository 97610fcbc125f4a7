/** What the pages read of STAC documents, of APIs and of files alike. */

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
  readonly type: "Feature";
  readonly id: string;
  readonly collection?: string;
  readonly geometry: unknown;
  readonly bbox?: readonly number[];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets?: Readonly<Record<string, StacAsset>>;
  readonly links?: readonly StacLink[];
}

/** A catalogue or a collection. */
export interface StacContainer {
  readonly type: "Catalog" | "Collection";
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly license?: string;
  readonly keywords?: readonly string[];
  readonly extent?: {
    readonly spatial?: { readonly bbox?: readonly (readonly number[])[] };
    readonly temporal?: { readonly interval?: readonly (readonly (string | null)[])[] };
  };
  readonly providers?: readonly { readonly name: string; readonly url?: string }[];
  readonly assets?: Readonly<Record<string, StacAsset>>;
  readonly links?: readonly StacLink[];
}

export interface ItemPage {
  readonly type: "FeatureCollection";
  readonly features: readonly StacItem[];
  readonly numberMatched?: number;
  readonly links?: readonly StacLink[];
}

export interface CollectionPage {
  readonly collections: readonly StacContainer[];
  readonly links?: readonly StacLink[];
}

export type StacDocument = StacItem | StacContainer | ItemPage;

/** @throws {Error} for what is no STAC document */
export function toDocument(value: unknown, address: string): StacDocument {
  const { type, features } = (value ?? {}) as { readonly type?: unknown; readonly features?: unknown };
  if (
    type === "Feature" ||
    type === "Catalog" ||
    type === "Collection" ||
    (type === "FeatureCollection" && Array.isArray(features))
  ) {
    return value as StacDocument;
  }
  throw new Error(`${address} is not a STAC catalogue, collection or item.`);
}

export const isContainer = (document: StacDocument): document is StacContainer =>
  document.type === "Catalog" || document.type === "Collection";

export function titleOf(document: StacItem | StacContainer): string {
  const title = document.type === "Feature" ? document.properties["title"] : document.title;
  return typeof title === "string" && title !== "" ? title : document.id;
}

export function timeOf({ properties }: StacItem): string | undefined {
  const time = properties["datetime"] ?? properties["start_datetime"];
  return typeof time === "string" ? time : undefined;
}

/** The address of a link, seen from the document that has it. */
export const toAddress = (href: string, from: string): string =>
  URL.canParse(href, from) ? new URL(href, from).href : href;

/** Addresses of a document's links of one of these kinds. */
export const linksOf = (
  { links = [] }: { readonly links?: readonly StacLink[] },
  from: string,
  ...rels: readonly string[]
): readonly StacLink[] =>
  links.filter(({ rel }) => rels.includes(rel)).map((link) => ({ ...link, href: toAddress(link.href, from) }));

/** What a link is called where it has no title: the folder of `…/2024/catalog.json`, the name of `…/scene.json`. */
export function nameOf({ href, title }: StacLink): string {
  const parts = new URL(href).pathname.split("/").filter((part) => part !== "");
  const last = parts.at(-1) ?? href;
  const isIndex = /^(catalog|collection|item|index)\.json$/.test(last);
  return title ?? decodeURIComponent((isIndex ? parts.at(-2) : last.replace(/\.json$/, "")) ?? last);
}

export type Box = readonly [number, number, number, number];

/** STAC boxes have four numbers, or six with heights. */
export function toBox(values: readonly number[] | undefined): Box | undefined {
  const [west, south, east, north] =
    values?.length === 6 ? [values[0], values[1], values[3], values[4]] : (values ?? []);
  return west === undefined || south === undefined || east === undefined || north === undefined
    ? undefined
    : [west, south, east, north];
}

/** The box around all boxes. */
export function mergeBboxes(boxes: readonly (Box | undefined)[]): Box | undefined {
  const known = boxes.filter((box) => box !== undefined);
  return known.length === 0
    ? undefined
    : [
        Math.min(...known.map(([west]) => west)),
        Math.min(...known.map(([, south]) => south)),
        Math.max(...known.map(([, , east]) => east)),
        Math.max(...known.map(([, , , north]) => north)),
      ];
}

/** `5.1,51.2,5.4,51.3` as a box; undefined for any other text. */
export function parseBox(text: string): Box | undefined {
  const box = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = box;
  return box.length === 4 && west < east && south < north && Math.abs(south) <= 90 && Math.abs(north) <= 90
    ? [west, south, east, north]
    : undefined;
}

export function toPolygon([west, south, east, north]: Box) {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: "Polygon" as const, coordinates: [ring] };
}

/** A picture that a browser shows, the smallest first. */
export const pictureOf = ({ assets = {} }: StacItem): StacAsset | undefined =>
  Object.values(assets)
    .filter(({ type = "" }) => /^image\/(png|jpeg|webp|gif)$/.test(type))
    .toSorted((a, b) => rankOf(a) - rankOf(b))[0];

const rankOf = ({ roles = [] }: StacAsset): number =>
  roles.includes("thumbnail") ? 0 : roles.includes("overview") ? 1 : 2;

/** Properties that fit on a line. */
export const listProperties = ({ properties }: StacItem): readonly (readonly [string, string])[] =>
  Object.entries(properties)
    .filter(([name, value]) => !["title", "description"].includes(name) && value !== null && value !== "")
    .map(([name, value]): readonly [string, string] => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ])
    .toSorted(([a], [b]) => a.localeCompare(b));
