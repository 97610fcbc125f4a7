import type { StacContainer, StacItem } from "@swath/ui/stac";

import { bboxOf, formatBox, parseBox, toPolygon } from "../../processing/model/areas.ts";

type Json = Readonly<Record<string, unknown>>;
/** What is wrong, by the name of the field. */
export type FieldErrors = Readonly<Record<string, string>>;

/** A collection as its form has it. */
export interface CollectionForm {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly license: string;
  readonly keywords: readonly string[];
  /** west,south,east,north */
  readonly area: string;
  /** Days; empty where open. */
  readonly from: string;
  readonly to: string;
}

/** An item as its form has it. Assets and other properties are JSON. */
export interface ItemForm {
  readonly id: string;
  readonly title: string;
  readonly datetime: string;
  /** A box, or a GeoJSON geometry. */
  readonly area: string;
  readonly clouds: string;
  readonly assets: string;
  readonly properties: string;
}

export const EMPTY_COLLECTION: CollectionForm = {
  id: "",
  title: "",
  description: "",
  license: "other",
  keywords: [],
  area: "-180,-90,180,90",
  from: "",
  to: "",
};

export const EMPTY_ITEM: ItemForm = {
  id: "",
  title: "",
  datetime: "",
  area: "",
  clouds: "",
  assets: "{}",
  properties: "{}",
};

export function toCollectionForm({ id, title, description, license, keywords, extent }: StacContainer): CollectionForm {
  const [from, to] = extent?.temporal?.interval?.[0] ?? [];
  const bbox = extent?.spatial?.bbox?.[0] ?? [];
  return {
    id,
    title: title ?? "",
    description: description ?? "",
    license: license ?? "other",
    keywords: keywords ?? [],
    area: (bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox).join(","),
    from: from?.slice(0, 10) ?? "",
    to: to?.slice(0, 10) ?? "",
  };
}

/** The document of a form; what the form does not show stays as it was. */
export function toCollection(form: CollectionForm, before: Json = {}): Json {
  const { title: _title, keywords: _keywords, ...rest } = before;
  const extent = (before["extent"] ?? {}) as {
    spatial?: { bbox?: readonly unknown[] };
    temporal?: { interval?: readonly (readonly (string | null)[])[] };
  };
  const [start, end] = extent.temporal?.interval?.[0] ?? [];
  const keep = (day: string, old: string | null | undefined, time: string): string | null =>
    day === "" ? null : typeof old === "string" && old.startsWith(day) ? old : `${day}T${time}Z`;
  return {
    stac_version: "1.1.0",
    links: [],
    ...rest,
    type: "Collection",
    id: form.id.trim(),
    ...(form.title.trim() !== "" && { title: form.title.trim() }),
    description: form.description,
    license: form.license.trim(),
    ...(form.keywords.length > 0 && { keywords: form.keywords }),
    extent: {
      ...extent,
      spatial: { ...extent.spatial, bbox: [parseBox(form.area) ?? [], ...(extent.spatial?.bbox?.slice(1) ?? [])] },
      temporal: {
        ...extent.temporal,
        interval: [
          [keep(form.from, start, "00:00:00"), keep(form.to, end, "23:59:59")],
          ...(extent.temporal?.interval?.slice(1) ?? []),
        ],
      },
    },
  };
}

/** What the form itself finds wrong. */
export function checkCollection(form: CollectionForm): FieldErrors {
  return {
    ...(form.id.trim() === "" && { id: "A collection needs an id" }),
    ...(form.description.trim() === "" && { description: "Say what the collection holds" }),
    ...(parseBox(form.area) === undefined && { area: "Four numbers: west,south,east,north in degrees" }),
    ...(form.from !== "" && form.to !== "" && form.from > form.to && { to: "Must not be before the first day" }),
  };
}

const EO_ADDRESS = "https://stac-extensions.github.io/eo/v1.1.0/schema.json";
const EO = /^https:\/\/stac-extensions\.github\.io\/eo\/v/;

const FORM_PROPERTIES = new Set(["title", "datetime", "eo:cloud_cover"]);

export function toItemForm({ id, geometry, properties, assets = {} }: StacItem): ItemForm {
  const others = Object.fromEntries(Object.entries(properties).filter(([name]) => !FORM_PROPERTIES.has(name)));
  const bbox = geometry === null ? undefined : bboxOf(geometry);
  const isBox = bbox !== undefined && JSON.stringify(geometry) === JSON.stringify(toPolygon(bbox));
  const textOf = (value: unknown): string =>
    typeof value === "string" || typeof value === "number" ? String(value) : "";
  return {
    id,
    title: textOf(properties["title"]),
    datetime: textOf(properties["datetime"]),
    area: geometry === null ? "" : isBox ? formatBox(bbox) : JSON.stringify(geometry),
    clouds: textOf(properties["eo:cloud_cover"]),
    assets: JSON.stringify(assets, null, 2),
    properties: JSON.stringify(others, null, 2),
  };
}

/** The document of a form that has no errors of its own; what the form does not show stays as it was. */
export function toItem(form: ItemForm, collection: string, before: Json = {}): Json {
  const { bbox, geometry: oldGeometry, ...rest } = before;
  const geometry = parseGeometry(form.area) ?? null;
  const isMoved = JSON.stringify(geometry) !== JSON.stringify(oldGeometry ?? null);
  const box = geometry === null ? undefined : isMoved ? bboxOf(geometry) : bbox;
  const extensions = (before["stac_extensions"] ?? []) as readonly string[];
  const saysClouds = form.clouds.trim() !== "";
  return {
    stac_version: "1.1.0",
    links: [],
    ...rest,
    // What is not declared is not validated, and other programs do not know what it means.
    ...(saysClouds &&
      !extensions.some((address) => EO.test(address)) && { stac_extensions: [...extensions, EO_ADDRESS] }),
    type: "Feature",
    id: form.id.trim(),
    collection,
    geometry,
    ...(box !== undefined && { bbox: box }),
    properties: {
      ...parseObject(form.properties),
      ...(form.title.trim() !== "" && { title: form.title.trim() }),
      datetime: form.datetime.trim() === "" ? null : form.datetime.trim(),
      ...(saysClouds && { "eo:cloud_cover": Number(form.clouds) }),
    },
    assets: parseObject(form.assets),
  };
}

export function checkItem(form: ItemForm): FieldErrors {
  return {
    ...(form.id.trim() === "" && { id: "An item needs an id" }),
    ...(form.area.trim() !== "" &&
      parseGeometry(form.area) === undefined && { area: "A box west,south,east,north, or a GeoJSON geometry" }),
    ...(form.clouds.trim() !== "" &&
      !(Number(form.clouds) >= 0 && Number(form.clouds) <= 100) && { clouds: "A number from 0 to 100" }),
    ...(parseObject(form.assets) === undefined && { assets: "Must be a JSON object" }),
    ...(parseObject(form.properties) === undefined && { properties: "Must be a JSON object" }),
  };
}

function parseGeometry(text: string): unknown {
  const bbox = parseBox(text);
  return bbox === undefined ? parseObject(text) : toPolygon(bbox);
}

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** Fields by the places of a document that they make; the longest that fits counts. */
const COLLECTION_FIELDS: Readonly<Record<string, string>> = {
  "/id": "id",
  "/title": "title",
  "/description": "description",
  "/license": "license",
  "/keywords": "keywords",
  "/extent/spatial": "area",
  "/extent/temporal": "to",
};
const ITEM_FIELDS: Readonly<Record<string, string>> = {
  "/id": "id",
  "/properties/title": "title",
  "/properties/datetime": "datetime",
  "/properties/eo:cloud_cover": "clouds",
  "/geometry": "area",
  "/bbox": "area",
  "/assets": "assets",
  "/properties": "properties",
};

/** What the catalogue says is wrong, at the fields that it is about; the rest under "". */
export function toFieldErrors(
  kind: "collection" | "item",
  errors: readonly { readonly path?: string; readonly rule?: string }[],
): FieldErrors {
  const fields = kind === "collection" ? COLLECTION_FIELDS : ITEM_FIELDS;
  const found: Record<string, string> = {};
  for (const { path = "", rule = "is not valid" } of errors) {
    const place = Object.keys(fields)
      .filter((prefix) => path === prefix || path.startsWith(`${prefix}/`))
      .toSorted((a, b) => b.length - a.length)[0];
    const field = place === undefined ? "" : (fields[place] ?? "");
    const rest = place === undefined ? path : path.slice(place.length);
    const text = rest === "" ? rule : `${rest} ${rule}`;
    found[field] = found[field] === undefined ? text : `${found[field]}; ${text}`;
  }
  return found;
}
