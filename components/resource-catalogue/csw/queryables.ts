import type { SortKey } from "../query/search-request.ts";
import { OwsError } from "./ows-error.ts";

/** What a queryable of CSW is in the catalogue. */
export type Queryable =
  /** `fallback` is read where the property is missing. */
  | { readonly kind: "text"; readonly property: string; readonly fallback?: string }
  /** A list of texts, or one. */
  | { readonly kind: "list"; readonly property: string }
  /** What a record says that it relates to, and its collection. */
  | { readonly kind: "relation"; readonly property: "relation" }
  | { readonly kind: "time"; readonly property: string }
  | { readonly kind: "number"; readonly property: string }
  /** A property of which only the other operand tells the type. */
  | { readonly kind: "any"; readonly property: string }
  | { readonly kind: "words" }
  | { readonly kind: "place" }
  /** Start and end of a record's time. */
  | { readonly kind: "begin" }
  | { readonly kind: "end" };

const text = (property: string, fallback?: string): Queryable => ({
  kind: "text",
  property,
  ...(fallback !== undefined && { fallback }),
});
const list = (property: string): Queryable => ({ kind: "list", property });
const time = (property: string): Queryable => ({ kind: "time", property });

/** By local name, without case: of csw:Record, of the common queryables of OGC 07-006r1 §6.3.2, and of the ISO application profile. */
const QUERYABLES: ReadonlyMap<string, Queryable> = new Map(
  Object.entries<Queryable>({
    identifier: text("id"),
    title: text("title", "id"),
    alternatetitle: text("title", "id"),
    abstract: text("description"),
    description: text("description"),
    subject: list("keywords"),
    keyword: list("keywords"),
    keywordtype: list("keywords"),
    topiccategory: list("keywords"),
    anytext: { kind: "words" },
    format: list("format"),
    type: text("type"),
    modified: time("updated"),
    revisiondate: time("updated"),
    created: time("created"),
    creationdate: time("created"),
    publicationdate: time("published"),
    issued: time("published"),
    date: time("datetime"),
    datetime: time("datetime"),
    temporal: time("datetime"),
    time: time("datetime"),
    tempextent_begin: { kind: "begin" },
    tempextent_end: { kind: "end" },
    boundingbox: { kind: "place" },
    wgs84boundingbox: { kind: "place" },
    spatial: list("spatial"),
    envelope: { kind: "place" },
    geometry: { kind: "place" },
    language: text("language"),
    resourcelanguage: text("language"),
    creator: list("creator"),
    publisher: list("publisher"),
    contributor: list("contributor"),
    relation: { kind: "relation", property: "relation" },
    association: { kind: "relation", property: "relation" },
    parentidentifier: text("collection"),
    collection: text("collection"),
    source: list("source"),
    coverage: list("coverage"),
    rights: list("rights"),
    license: text("license"),
    servicetype: text("serviceType"),
    lineage: text("lineage"),
    cloudcover: { kind: "number", property: "eo:cloud_cover" },
    platform: text("platform"),
    instrument: list("instruments"),
  }),
);
const PREFIXES = new Set(["", "dc", "dct", "dcterms", "csw", "csw30", "csw2", "ows", "ows20", "apiso", "gmd", "eo"]);

/** Names as the capabilities declare them. */
export const SUPPORTED_QUERYABLES = [
  "dc:title",
  "dc:subject",
  "dct:abstract",
  "csw:AnyText",
  "dc:format",
  "dc:identifier",
  "dct:modified",
  "dc:type",
  "ows:BoundingBox",
  "dc:date",
  "dct:created",
  "dc:language",
  "dc:creator",
  "dc:publisher",
  "dc:contributor",
  "dc:relation",
  "dc:source",
  "dc:coverage",
  "dc:rights",
] as const;
export const ISO_QUERYABLES = [
  "apiso:Title",
  "apiso:Subject",
  "apiso:Abstract",
  "apiso:AnyText",
  "apiso:Format",
  "apiso:Identifier",
  "apiso:Modified",
  "apiso:Type",
  "apiso:BoundingBox",
  "apiso:TempExtent_begin",
  "apiso:TempExtent_end",
  "apiso:CreationDate",
  "apiso:PublicationDate",
  "apiso:RevisionDate",
  "apiso:Language",
  "apiso:ParentIdentifier",
  "apiso:ServiceType",
] as const;
/** Those beyond the application profile's own list (OGC 07-045 §8.2.4). */
export const ADDITIONAL_QUERYABLES = [
  "apiso:Lineage",
  "apiso:CloudCover",
  "apiso:Platform",
  "apiso:Instrument",
] as const;

/**
 * The queryable of a name, which may be a path: `dc:title`, `/csw:Record/dc:title`, `Title`. Properties of STAC go by their names as they
 * are: `sar:polarizations`, `properties.gsd`.
 * @throws {OwsError} for a name that is none
 */
export function findQueryable(name: string, locator = "constraint"): Queryable {
  const step = name.split("/").at(-1)?.trim() ?? "";
  const colon = step.indexOf(":");
  const prefix = colon === -1 ? "" : step.slice(0, colon);
  const known = QUERYABLES.get(step.slice(colon + 1).toLowerCase());
  if (known !== undefined && PREFIXES.has(prefix.toLowerCase())) {
    return known;
  }
  const isStac =
    step.startsWith("properties.") || (/^[a-z][a-z0-9_-]*$/.test(prefix) && (!PREFIXES.has(prefix) || prefix === "eo"));
  if (isStac && step.length <= 200) {
    return { kind: "any", property: step };
  }
  throw new OwsError(
    "InvalidParameterValue",
    locator,
    `${JSON.stringify(name.slice(0, 80))} is not a property of this catalogue; it has ${SUPPORTED_QUERYABLES.join(", ")}, ${[...ISO_QUERYABLES, ...ADDITIONAL_QUERYABLES].join(", ")}, and properties of STAC such as eo:cloud_cover.`,
  );
}

/** A sort key. @throws {OwsError} for what cannot be sorted by */
export function toSortKey(name: string, direction: "asc" | "desc"): SortKey {
  const queryable = findQueryable(name, "sortBy");
  switch (queryable.kind) {
    case "words":
    case "place":
      throw new OwsError("InvalidParameterValue", "sortBy", `Records cannot be sorted by ${name.slice(0, 80)}.`);
    case "begin":
    case "end":
      return { property: "datetime", direction };
    case "relation":
      return { property: "collection", direction };
    default:
      return { property: queryable.property, direction };
  }
}
