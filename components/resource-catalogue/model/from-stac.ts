import { type Place, findMembers } from "./json-members.ts";
import { type Footprint, toFootprint } from "./footprint.ts";
import { parseInstant } from "./instant.ts";
import type { NewRecord, SplicedDocument } from "./record.ts";
import { isViewLink, layerOf } from "./view-links.ts";
import { toTsVector } from "./words.ts";

type Json = Readonly<Record<string, unknown>>;

/** Links that every answer makes anew. */
const MADE_LINKS = new Set([
  "self",
  "root",
  "parent",
  "collection",
  "items",
  "child",
  "item",
  "queryables",
  "sortables",
  "http://www.opengis.net/def/rel/ogc/1.0/queryables",
  "http://www.opengis.net/def/rel/ogc/1.0/sortables",
  "aggregate",
  "aggregations",
]);
/** Members of a collection that filters do not read. */
const UNSEARCHED = new Set(["links", "assets", "item_assets", "extent", "type"]);

/**
 * The record of a STAC item that has been validated.
 * @param text the item as it came, valid JSON
 * @param value what JSON.parse made of it
 */
export function itemToRecord(text: string, value: Json, collection: string): NewRecord {
  const members = findMembers(text);
  const properties = value["properties"] as Json;
  const place = members.get("properties") as Place;
  const cloud = properties["eo:cloud_cover"];
  return {
    kind: "i",
    id: value["id"] as string,
    type: "dataset",
    ...toTime(properties),
    ...toPlace(value["geometry"], value["bbox"]),
    ...(typeof cloud === "number" && { cloud }),
    words: toTsVector([
      value["id"] as string,
      collection,
      ...textsOf(properties, ["title", "description", "platform", "constellation", "mission"]),
      ...textsOf(properties, ["keywords", "instruments"]),
    ]),
    properties: text.slice(place.from, place.to),
    document: spliceDocument(text, value, members, { collection }),
    format: "stac",
  };
}

/** The record of a STAC collection that has been validated. */
export function collectionToRecord(text: string, value: Json): NewRecord {
  const { spatial, temporal } = value["extent"] as {
    spatial: { bbox: readonly (readonly number[])[] };
    temporal: { interval: readonly (readonly (string | null)[])[] };
  };
  const [start = null, end = null] = temporal.interval[0] ?? [];
  const [from, to] = [start, end].map((entry) => (entry === null ? undefined : parseInstant(entry)));
  const [bbox] = spatial.bbox;
  return {
    kind: "c",
    id: value["id"] as string,
    type: "collection",
    time: { at: from ?? to ?? "-infinity", start: from ?? "-infinity", end: to ?? "infinity" },
    ...(bbox !== undefined && bboxToPlace(bbox)),
    words: toTsVector([
      value["id"] as string,
      ...textsOf(value, ["title", "description", "keywords"]),
      ...providerNames(value["providers"]),
    ]),
    properties: JSON.stringify(Object.fromEntries(Object.entries(value).filter(([key]) => !UNSEARCHED.has(key)))),
    document: spliceDocument(text, value, findMembers(text), {}),
    format: "stac",
  };
}

function spliceDocument(
  text: string,
  value: Json,
  members: ReadonlyMap<string, Place>,
  requested: Readonly<Record<string, string>>,
): SplicedDocument {
  const { collection } = requested;
  const layer = collection === undefined ? layerOf(value["id"] as string) : layerOf(collection, value["id"] as string);
  const links = (value["links"] ?? []) as readonly { readonly rel: string; readonly href: string }[];
  const own = links.filter((link) => !MADE_LINKS.has(link.rel) && !isViewLink(link, layer));
  const missing = Object.entries(requested).filter(([key]) => value[key] === undefined);
  const place = members.get("links") ?? { from: text.lastIndexOf("}"), to: text.lastIndexOf("}") };
  return {
    text,
    linksFrom: place.from,
    linksTo: place.to,
    links: own.length === 0 ? "" : JSON.stringify(own).slice(1, -1),
    extra: missing.map(([key, content]) => `,${JSON.stringify(key)}:${JSON.stringify(content)}`).join(""),
  };
}

/** `datetime` where it has one, else the interval. Open ends do not occur: validation wants both. */
export function toTime(properties: Json): Pick<NewRecord, "time"> {
  const { datetime, start_datetime: start, end_datetime: end } = properties;
  const instant = typeof datetime === "string" ? parseInstant(datetime) : undefined;
  if (instant !== undefined) {
    return { time: { at: instant, start: instant, end: instant } };
  }
  const [from, to] = [start, end].map((entry) => (typeof entry === "string" ? parseInstant(entry) : undefined));
  return from === undefined || to === undefined || from > to ? {} : { time: { at: from, start: from, end: to } };
}

/** The columns of a geometry; heights of the box count where the geometry has none. */
export function toPlace(geometry: unknown, bbox?: unknown): Pick<NewRecord, "bbox" | "shapes" | "holes" | "heights"> {
  if (geometry === null || geometry === undefined) {
    return {};
  }
  const { box, shapes, holes, heights } = toFootprint(geometry);
  const [, , low, , , high] = Array.isArray(bbox) && bbox.length === 6 ? (bbox as number[]) : [];
  const range = heights ?? (low !== undefined && high !== undefined ? ([low, high] as const) : undefined);
  return {
    bbox: box,
    ...(shapes && { shapes }),
    ...(holes && { holes }),
    ...(range && { heights: range }),
  };
}

function bboxToPlace(bbox: readonly number[]): Pick<NewRecord, "bbox" | "heights"> {
  const [west, south, low, east, north, high] =
    bbox.length === 6 ? bbox : [bbox[0], bbox[1], undefined, bbox[2], bbox[3], undefined];
  if (west === undefined || south === undefined || east === undefined || north === undefined) {
    return {};
  }
  const box: Footprint["box"] = [west, south, west > east ? east + 360 : east, north];
  return { bbox: box, ...(low !== undefined && high !== undefined && { heights: [low, high] as const }) };
}

function textsOf(value: Json, names: readonly string[]): string[] {
  const texts: string[] = [];
  for (const name of names) {
    const found = value[name];
    if (typeof found === "string") {
      texts.push(found);
    } else if (Array.isArray(found)) {
      // One by one: a list of a stranger's may be longer than the arguments of a call.
      for (const entry of found as readonly unknown[]) {
        if (typeof entry === "string") {
          texts.push(entry);
        }
      }
    }
  }
  return texts;
}

function providerNames(providers: unknown): string[] {
  return Array.isArray(providers) ? providers.flatMap((provider) => textsOf(provider as Json, ["name"])) : [];
}
