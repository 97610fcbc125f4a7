import { toFootprint } from "../model/footprint.ts";
import type { StoredRecord } from "../model/record.ts";
import type { ViewLinks } from "../model/view-links.ts";

type Json = Readonly<Record<string, unknown>>;

/** A reference of a record: an asset, or a link. */
export interface Reference {
  readonly href: string;
  readonly rel: string;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  /** Protocol of ISO records: OGC:WMS, WWW:LINK … */
  readonly protocol?: string;
  readonly isThumbnail: boolean;
}

export interface Contact {
  readonly name?: string;
  readonly organization?: string;
  readonly email?: string;
  readonly roles: readonly string[];
}

/** What a record says, whatever form it came in: the forms of other interfaces are made of this. */
export interface RecordSummary {
  readonly id: string;
  readonly collection: string;
  readonly kind: StoredRecord["kind"];
  readonly type: string;
  readonly title: string;
  readonly abstract?: string;
  readonly subjects: readonly string[];
  /** When what it describes was made; the catalogue does not know where the record does not say. */
  readonly created?: string;
  /** When that was changed last. */
  readonly revised?: string;
  /** When the record itself was changed last. */
  readonly modified: string;
  readonly published?: string;
  readonly language?: string;
  readonly rights?: string;
  readonly license?: string;
  readonly formats: readonly string[];
  readonly contacts: readonly Contact[];
  readonly relations: readonly string[];
  readonly source?: string;
  readonly coverage?: string;
  readonly references: readonly Reference[];
  readonly geometry: unknown;
  /** West > east where it crosses the antimeridian. */
  readonly bbox?: readonly [west: number, south: number, east: number, north: number];
  /** Both the same for an instant; left out where open. */
  readonly time?: { readonly start?: string; readonly end?: string };
  readonly cloudCover?: number;
  readonly platform?: string;
  readonly instruments: readonly string[];
  readonly properties: Json;
}

/** Reads a stored record: a STAC item, a collection, or an OGC record (which is also what XML records are made into). */
export function summarize(record: StoredRecord, viewLinks: ViewLinks): RecordSummary {
  const document = JSON.parse(record.text) as Json;
  const properties = (record.kind === "c" ? document : (document["properties"] ?? {})) as Json;
  const { id, collection, kind, type } = record;
  const abstract = textOf(properties["description"]) ?? textOf(properties["abstract"]);
  const [created, revised, published] = ["created", "updated", "published"].map((name) => textOf(properties[name]));
  const license = textOf(properties["license"]);
  const rights = textOf(properties["rights"]) ?? license;
  const language = toLanguage(properties["language"]);
  const source = textOf(properties["source"]);
  const coverage = textOf(properties["coverage"]);
  const own = [...toAssets(document["assets"]), ...toLinks(document["links"])];
  const references = [...own, ...toLinks(viewLinks(record))];
  const bbox = toBbox(record.kind, document);
  const time = record.kind === "c" ? toExtentTime(document) : toTime(document, properties);
  const cloud = properties["eo:cloud_cover"];
  const platform = textOf(properties["platform"]);
  return {
    id,
    collection,
    kind,
    type,
    title: textOf(properties["title"]) ?? id,
    ...(abstract !== undefined && { abstract }),
    subjects: textsOf(properties["keywords"]),
    ...(created !== undefined && { created }),
    ...(revised !== undefined && { revised }),
    modified: revised ?? record.changedAt.toISOString(),
    ...(published !== undefined && { published }),
    ...(language !== undefined && { language }),
    ...(rights !== undefined && { rights }),
    ...(license !== undefined && { license }),
    formats: toFormats(properties, own),
    contacts: toContacts(properties),
    relations: [...textsOf(properties["relation"]), ...(kind === "i" ? [collection] : [])],
    ...(source !== undefined && { source }),
    ...(coverage !== undefined && { coverage }),
    references,
    geometry: kind === "c" ? null : (document["geometry"] ?? null),
    ...(bbox && { bbox }),
    ...(time && { time }),
    ...(typeof cloud === "number" && { cloudCover: cloud }),
    ...(platform !== undefined && { platform }),
    instruments: textsOf(properties["instruments"]),
    properties,
  };
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : Array.isArray(value) ? textOf(value[0]) : undefined;

export const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : [value]).filter(
    (entry): entry is string => typeof entry === "string" && entry !== "",
  );

/** A code, or an object with one as OGC records have it. */
function toLanguage(language: unknown): string | undefined {
  return typeof language === "object" && language !== null ? textOf((language as Json)["code"]) : textOf(language);
}

function toFormats(properties: Json, references: readonly Reference[]): string[] {
  const named = (Array.isArray(properties["formats"]) ? (properties["formats"] as readonly unknown[]) : []).flatMap(
    (format) =>
      typeof format === "string"
        ? [format]
        : textsOf([(format as Json | null)?.["mediaType"] ?? (format as Json | null)?.["name"]]),
  );
  const own = [...textsOf(properties["format"]), ...named];
  const types = references.flatMap(({ rel, type }) => (type !== undefined && rel === "enclosure" ? [type] : []));
  return [...new Set(own.length > 0 ? own : types)];
}

const DC_ROLES = { creator: "author", publisher: "publisher", contributor: "contributor" } as const;

function toContacts(properties: Json): Contact[] {
  const listed = [properties["contacts"], properties["providers"]].flatMap((list) =>
    Array.isArray(list) ? (list as readonly Json[]) : [],
  );
  const named = listed.map((entry): Contact => {
    const isProvider = entry["organization"] === undefined && !Array.isArray(properties["contacts"]);
    const name = isProvider ? undefined : textOf(entry["name"]);
    const organization = isProvider ? textOf(entry["name"]) : textOf(entry["organization"]);
    const email = textOf((Array.isArray(entry["emails"]) ? (entry["emails"][0] as Json) : undefined)?.["value"]);
    return {
      ...(name !== undefined && { name }),
      ...(organization !== undefined && { organization }),
      ...(email !== undefined && { email }),
      roles: textsOf(entry["roles"]),
    };
  });
  const plain = Object.entries(DC_ROLES).flatMap(([key, role]) =>
    textsOf(properties[key]).map((name): Contact => ({ organization: name, roles: [role] })),
  );
  return listed.length > 0 ? named : plain;
}

const STRUCTURE = new Set([
  "self",
  "root",
  "parent",
  "collection",
  "items",
  "item",
  "child",
  "alternate",
  "queryables",
  "sortables",
  "next",
  "prev",
]);

function toLinks(links: unknown): Reference[] {
  return (Array.isArray(links) ? (links as readonly Json[]) : []).flatMap((link) => {
    const { href, rel, type, title, description, protocol } = link;
    return typeof href !== "string" || typeof rel !== "string" || STRUCTURE.has(rel)
      ? []
      : [
          {
            href,
            rel,
            ...(typeof type === "string" && { type }),
            ...(typeof title === "string" && { title }),
            ...(typeof description === "string" && { description }),
            ...(typeof protocol === "string" && { protocol }),
            isThumbnail: rel === "preview" || rel === "icon",
          },
        ];
  });
}

function toAssets(assets: unknown): Reference[] {
  if (typeof assets !== "object" || assets === null) {
    return [];
  }
  return Object.entries(assets as Readonly<Record<string, Json>>).flatMap(([key, asset]) => {
    const { href, type, title, description } = asset;
    const roles = textsOf(asset["roles"]);
    const isThumbnail = roles.includes("thumbnail") || roles.includes("overview") || key === "thumbnail";
    return typeof href !== "string"
      ? []
      : [
          {
            href,
            rel: isThumbnail ? "preview" : roles.includes("metadata") ? "describedby" : "enclosure",
            ...(typeof type === "string" && { type }),
            title: typeof title === "string" ? title : key,
            ...(typeof description === "string" && { description }),
            isThumbnail,
          },
        ];
  });
}

type Bbox = RecordSummary["bbox"];

function toBbox(kind: StoredRecord["kind"], document: Json): Bbox | undefined {
  const listed =
    kind === "c"
      ? (document as { extent?: { spatial?: { bbox?: unknown[] } } }).extent?.spatial?.bbox?.[0]
      : document["bbox"];
  if (
    Array.isArray(listed) &&
    listed.every((entry) => typeof entry === "number") &&
    (listed.length === 4 || listed.length === 6)
  ) {
    const [west, south, east, north] = listed.length === 4 ? listed : [listed[0], listed[1], listed[3], listed[4]];
    return [west, south, east, north] as Bbox;
  }
  return kind === "c" ? undefined : boundsOf(document["geometry"]);
}

/** Of the shorter way around the globe. */
function boundsOf(geometry: unknown): Bbox | undefined {
  if (geometry === null || geometry === undefined) {
    return undefined;
  }
  const [west, south, east, north] = toFootprint(geometry).box;
  return [west, south, east > 180 ? east - 360 : east, north];
}

function toTime(document: Json, properties: Json): RecordSummary["time"] | undefined {
  const { datetime, start_datetime: start, end_datetime: end } = properties;
  if (typeof datetime === "string") {
    return { start: datetime, end: datetime };
  }
  if (typeof start === "string" || typeof end === "string") {
    return toEnds(start, end);
  }
  const { date, timestamp, interval } = (document["time"] ?? {}) as {
    date?: unknown;
    timestamp?: unknown;
    interval?: unknown;
  };
  const instant = textOf(timestamp) ?? textOf(date);
  if (instant !== undefined) {
    return { start: instant, end: instant };
  }
  return Array.isArray(interval) ? toEnds(interval[0], interval[1]) : undefined;
}

function toExtentTime(document: Json): RecordSummary["time"] | undefined {
  const interval = (document as { extent?: { temporal?: { interval?: unknown[] } } }).extent?.temporal?.interval?.[0];
  return Array.isArray(interval) ? toEnds(interval[0], interval[1]) : undefined;
}

function toEnds(start: unknown, end: unknown): RecordSummary["time"] | undefined {
  const [from, to] = [start, end].map((entry) =>
    typeof entry === "string" && entry !== ".." && entry !== "" ? entry : undefined,
  );
  return from === undefined && to === undefined
    ? undefined
    : { ...(from !== undefined && { start: from }), ...(to !== undefined && { end: to }) };
}
