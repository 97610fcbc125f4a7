import type { ItemPage, StacContainer, StacItem, StacLink } from "@swath/ui/stac";

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
