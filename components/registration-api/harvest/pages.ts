import { setTimeout as sleep } from "node:timers/promises";

import { type StacItem, type StacLink, isStac, parseStac, resolveHref } from "@swath/stac";

import type { LocatedItem } from "../catalogue/writer.ts";
import { RegistrationError } from "../queue/errors.ts";
import { normalizeItem, normalizeLinks } from "../registrars/normalize-item.ts";
import type { PartFailures } from "../registrars/part-failures.ts";
import { keepGoodParts, readJson } from "../registrars/read-tolerantly.ts";
import type { ReadOptions, Sources } from "../sources/source-types.ts";
import type { HarvestedLink } from "../store/harvested-links.ts";
import type { RecordProblem } from "../store/problems.ts";
import type { KnownDocument, ReadDocument } from "../store/read-documents.ts";
import type { KnownRecord } from "../store/records.ts";
import type { HarvesterConfig } from "./config.ts";
import { readCsw } from "./csw.ts";
import { readTemplate, toSearchUrl } from "./open-search.ts";
import { readCatalog } from "./read-catalog.ts";

/** What was found at once, and where to go on from. */
export interface HarvestedPage {
  readonly items: readonly HarvestedItem[];
  readonly problems: readonly RecordProblem[];
  /** OGC records that are no STAC, as they are. */
  readonly records?: readonly (Json & { readonly id: string })[];
  /** Metadata records in XML, as they are. */
  readonly xml?: readonly string[];
  /** Records whose documents are unchanged at their source. */
  readonly unchanged?: readonly UnchangedRecord[];
  /** Catalogues and collections that were read. */
  readonly catalogs?: readonly ReadDocument[];
  /** Links of a static catalogue that were followed. */
  readonly links?: readonly HarvestedLink[];
  /** Undefined at the end. */
  readonly next?: object;
}

export interface HarvestedItem extends LocatedItem {
  readonly collection?: string;
  /** How its document was when it was read, where it can be asked later whether it changed. */
  readonly read?: ReadDocument;
}

export interface UnchangedRecord extends KnownRecord {
  readonly document: string;
}

export interface PageOptions {
  readonly sources: Sources;
  readonly read: ReadOptions;
  /** Where an earlier attempt ended. */
  readonly position: Readonly<Record<string, unknown>> | null;
  /** Only what changed since; left out for everything. */
  readonly since?: string;
  /** Told of parts of a catalogue that cannot be read. */
  readonly failures: PartFailures;
  /** What is known of a document from an earlier run. */
  readonly findKnown?: (address: string) => Promise<KnownDocument | undefined>;
}

type Json = Readonly<Record<string, unknown>>;
interface Link {
  readonly rel?: unknown;
  readonly href?: unknown;
  readonly method?: unknown;
  readonly body?: unknown;
  readonly merge?: unknown;
}

/** Pages of what a harvester's source has, in its order. */
export function readPages(config: HarvesterConfig, options: PageOptions): AsyncGenerator<HarvestedPage> {
  switch (config.resource.type) {
    case "STACCatalog":
      return readCatalog(config, options);
    case "CSW":
      return readCsw(config, options);
    default:
      return readSearch(config, options);
  }
}

/** Searches that are paged by `next` links: STAC API, OGC API Records, OpenSearch with GeoJSON. */
async function* readSearch(config: HarvesterConfig, options: PageOptions): AsyncGenerator<HarvestedPage> {
  const { sources, read } = options;
  let request: SearchRequest | undefined =
    options.position === null ? await toFirstRequest(config, options) : (options.position as unknown as SearchRequest);
  const seen = new Set<string>();
  let ahead = fetchPage(request);
  while (request !== undefined) {
    const key = JSON.stringify(request);
    if (seen.has(key)) {
      throw new RegistrationError(`${request.url} was read before: the search never ends.`);
    }
    seen.add(key);
    const { value, href } = await ahead;
    const next = toNextRequest(value as Json, href, request);
    if (config.pauseMs > 0 && next !== undefined) {
      await sleep(config.pauseMs, undefined, { signal: read.signal });
    }
    if (next !== undefined) {
      // The next page comes while this one is written.
      ahead = fetchPage(next);
      ahead.catch(() => {});
    }
    yield { ...toPage(value, href, config), ...(next !== undefined && { next }) };
    request = next;
  }

  function fetchPage(
    requested: SearchRequest | undefined,
  ): Promise<{ readonly value: unknown; readonly href: string }> {
    const { url = "", body } = requested ?? {};
    return readJson(sources, url, {
      ...read,
      accept: "application/geo+json, application/json",
      headers: config.resource.headers,
      ...(body !== undefined && { body }),
    });
  }
}

interface SearchRequest {
  readonly url: string;
  readonly body?: unknown;
}

async function toFirstRequest(
  { resource, incremental }: HarvesterConfig,
  { sources, read, since }: PageOptions,
): Promise<SearchRequest> {
  const { url, type, query, pageSize } = resource;
  const { begin, end, bbox, collection } = query;
  if (type === "OpenSearch") {
    const template = await readTemplate(sources, url, { ...read, headers: resource.headers });
    return { url: toSearchUrl(template, { ...query, pageSize, ...(since !== undefined && { since }) }) };
  }
  const target = new URL(
    type === "STACAPI" && !/\/(?:search|items)\/?$/.test(new URL(url).pathname)
      ? `${url.replace(/\/+$/, "")}/search`
      : url,
  );
  target.searchParams.set("limit", String(pageSize));
  if (begin !== undefined || end !== undefined) {
    target.searchParams.set("datetime", `${begin ?? ".."}/${end ?? ".."}`);
  }
  if (bbox !== undefined) {
    target.searchParams.set("bbox", bbox.join(","));
  }
  if (collection !== undefined && type === "STACAPI") {
    target.searchParams.set("collections", collection);
  }
  if (since !== undefined && incremental !== undefined) {
    target.searchParams.set("filter-lang", "cql2-text");
    target.searchParams.set("filter", `"${incremental.replaceAll('"', "")}" >= TIMESTAMP('${since}')`);
  }
  return { url: target.href };
}

function toNextRequest(page: Json, href: string, { body }: SearchRequest): SearchRequest | undefined {
  const properties = page["properties"] as Json | undefined;
  const links = [page["links"], properties?.["links"]].find(Array.isArray) as readonly Link[] | undefined;
  const link = links?.find(({ rel }) => rel === "next");
  const features = page["features"];
  if (typeof link?.href !== "string" || !Array.isArray(features) || features.length === 0) {
    return undefined;
  }
  const url = resolveHref(link.href, href);
  if (typeof link.method !== "string" || link.method.toUpperCase() !== "POST") {
    return { url };
  }
  return { url, body: link.merge === true ? { ...(body as object), ...(link.body as object) } : link.body };
}

function toPage(value: unknown, href: string, config: HarvesterConfig): Omit<HarvestedPage, "next"> {
  const problems: RecordProblem[] = [];
  const { features } = (value ?? {}) as { features?: unknown };
  if (!Array.isArray(features)) {
    throw new RegistrationError(`${href} has no list "features"; it is no page of a search.`);
  }
  const { propertyMapping } = config.resource;
  const isRecords = config.resource.type === "Records";
  const records = isRecords ? features.filter(isRecord).map((record) => normalizeRecord(record, href)) : [];
  const documents = isRecords
    ? features.filter((feature) => !isRecord(feature))
    : config.resource.type === "OpenSearch"
      ? features.map((feature) => toStacItem(feature, propertyMapping))
      : features;
  const kept = keepGoodParts({ type: "FeatureCollection", features: documents, links: [] }, href, (problem) =>
    problems.push(problem),
  ) as { features: readonly unknown[] };
  const items = kept.features.flatMap((feature) => {
    const item = isStac(feature) ? (parseStac(feature, href) as StacItem) : undefined;
    if (item === undefined) {
      return [];
    }
    const self = item.links.find(({ rel }) => rel === "self")?.href;
    const from = self === undefined ? href : resolveHref(self, href);
    return [
      {
        item: normalizeItem(item, from),
        document: from === href ? `${href.replace(/\?.*$/s, "")}#${item.id}` : from,
        ...(item.collection !== undefined && { collection: item.collection }),
      },
    ];
  });
  return { items, problems, records };
}

/** A record that is no STAC item. */
function isRecord(feature: unknown): feature is Json & { readonly id: string } {
  const { id, type, stac_version: version } = (feature ?? {}) as Json;
  return typeof id === "string" && id !== "" && type === "Feature" && version === undefined;
}

/** A record without the links to its place in its own catalogue. */
function normalizeRecord(
  { links, ...record }: Json & { readonly id: string },
  href: string,
): Json & { readonly id: string } {
  return { ...record, id: record.id, links: Array.isArray(links) ? normalizeLinks(links as StacLink[], href) : [] };
}

/** A feature of a catalogue that does not speak STAC, with the properties that are mapped. */
function toStacItem(feature: unknown, mapping: Readonly<Record<string, string>>): unknown {
  const { id, geometry, bbox, links, assets, ...rest } = (feature ?? {}) as Json;
  if (rest["stac_version"] !== undefined || typeof feature !== "object" || feature === null) {
    return feature;
  }
  const provided = (rest["properties"] ?? {}) as Json;
  const mapped = Object.fromEntries(
    Object.entries(mapping).flatMap(([name, from]) => (provided[from] === undefined ? [] : [[name, provided[from]]])),
  );
  const { links: _links, ...properties } = provided;
  const start = mapped["start_datetime"] ?? provided["datetime"];
  return {
    type: "Feature",
    stac_version: "1.0.0",
    stac_extensions: [],
    id: mapped["id"] ?? id,
    geometry,
    bbox: bbox ?? boundsOf(geometry),
    properties: { ...properties, ...mapped, datetime: mapped["datetime"] ?? start ?? null },
    links: Array.isArray(links) ? links : [],
    assets: typeof assets === "object" && assets !== null ? assets : {},
    ...(typeof rest["collection"] === "string" && { collection: rest["collection"] }),
  };
}

function boundsOf(geometry: unknown): readonly number[] | undefined {
  const points: [number, number][] = [];
  const visit = (value: unknown, depth: number): void => {
    if (Array.isArray(value) && typeof value[0] === "number") {
      points.push([value[0], Number(value[1])]);
    } else if (Array.isArray(value) && depth < 6) {
      value.forEach((inner) => visit(inner, depth + 1));
    }
  };
  visit((geometry as Json | null)?.["coordinates"], 0);
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), -Infinity);
  return points.length === 0 ? undefined : [least(xs), least(ys), most(xs), most(ys)];
}
