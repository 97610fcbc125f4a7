import type { StoredRecord } from "../model/record.ts";

type Json = Readonly<Record<string, unknown>>;

/** A link of a record. */
export interface RecordLink {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
  readonly title?: string;
}

/** An OGC record (OGC API Records Part 1 §7): a GeoJSON feature with `time`, and properties of its core. */
export interface OgcRecord {
  readonly id: string;
  readonly type: "Feature";
  readonly geometry: unknown;
  readonly time: unknown;
  readonly properties: Json;
  readonly links: readonly RecordLink[];
  readonly [member: string]: unknown;
}

/**
 * A record in the form of OGC API Records. Of a STAC item: its properties, `title` (or the id), its assets as links `enclosure` (also
 * kept as they are), `datetime` as `time`. Of a collection: its text members as properties, the first box as geometry.
 */
export function toOgcRecord(record: StoredRecord): OgcRecord {
  const document = JSON.parse(record.text) as Json;
  switch (record.kind) {
    case "i":
      return itemToOgcRecord(record, document);
    case "c":
      return collectionToOgcRecord(record, document);
    case "r":
      return completeRecord(record, document);
  }
}

function itemToOgcRecord(record: StoredRecord, item: Json): OgcRecord {
  const { properties, links, assets, geometry, bbox, ...others } = item as Json & { properties: Json };
  return {
    ...others,
    id: record.id,
    type: "Feature",
    collection: record.collection,
    geometry,
    ...(bbox !== undefined && { bbox }),
    time: toTimeMember(properties),
    properties: {
      ...times(record),
      title: record.id,
      ...properties,
      type: record.type,
    },
    assets,
    links: [...ownLinks(links), ...assetLinks(assets)],
  };
}

function collectionToOgcRecord(record: StoredRecord, collection: Json): OgcRecord {
  const { title, description, keywords, license, providers, extent, links, assets } = collection as Json & {
    extent?: { spatial?: { bbox?: number[][] }; temporal?: { interval?: (string | null)[][] } };
  };
  const bbox = extent?.spatial?.bbox?.[0];
  const interval = extent?.temporal?.interval?.[0];
  return {
    id: record.id,
    type: "Feature",
    geometry: bbox === undefined ? null : toPolygon(bbox),
    time: interval === undefined ? null : { interval: interval.map((end) => end ?? "..") },
    properties: {
      ...times(record),
      type: record.type,
      title: title ?? record.id,
      ...(description !== undefined && { description }),
      ...(keywords !== undefined && { keywords }),
      ...(license !== undefined && { license }),
      ...(Array.isArray(providers) && {
        contacts: (providers as readonly Json[]).map(({ name, roles }) => ({ organization: name, roles: roles ?? [] })),
      }),
    },
    links: [...ownLinks(links), ...assetLinks(assets)],
  };
}

function completeRecord(record: StoredRecord, document: Json): OgcRecord {
  const { properties = {}, links, geometry = null, time = null } = document as Json & { properties?: Json };
  return {
    ...document,
    id: record.id,
    type: "Feature",
    geometry,
    time,
    properties: { ...times(record), type: record.type, title: record.id, ...properties },
    links: ownLinks(links),
  };
}

const times = ({ madeAt, changedAt }: StoredRecord): Json => ({
  created: madeAt.toISOString(),
  updated: changedAt.toISOString(),
});

function toTimeMember({ datetime, start_datetime: start, end_datetime: end }: Json): unknown {
  if (typeof datetime === "string") {
    return { timestamp: datetime };
  }
  return start === undefined ? null : { interval: [start ?? "..", end ?? ".."] };
}

const STRUCTURE = new Set(["self", "root", "parent", "collection", "items", "item", "child", "alternate"]);

function ownLinks(links: unknown): readonly RecordLink[] {
  return (Array.isArray(links) ? (links as readonly RecordLink[]) : []).filter(({ rel }) => !STRUCTURE.has(rel));
}

function assetLinks(assets: unknown): readonly RecordLink[] {
  if (typeof assets !== "object" || assets === null) {
    return [];
  }
  return Object.entries(assets as Readonly<Record<string, Json>>).map(([key, { href, type, title, roles }]) => ({
    rel: Array.isArray(roles) && roles.includes("thumbnail") ? "preview" : "enclosure",
    href: href as string,
    ...(typeof type === "string" && { type }),
    title: typeof title === "string" ? title : key,
  }));
}

function toPolygon(bbox: readonly number[]): unknown {
  const [west, south, east, north] = bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  return {
    type: "Polygon",
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  };
}
