import { StacError } from "./errors.ts";
import type {
  StacAsset,
  StacCatalog,
  StacCollection,
  StacItem,
  StacItemCollection,
  StacLink,
  StacObject,
} from "./types.ts";

type Json = Readonly<Record<string, unknown>>;

/** Whether a JSON value claims to be STAC; `parseStac` then says what is wrong with it, if anything. */
export function isStac(value: unknown): boolean {
  if (!isObject(value)) {
    return false;
  }
  switch (value["type"]) {
    case "Feature":
      return isObject(value["assets"]) || "stac_version" in value;
    case "FeatureCollection":
      return Array.isArray(value["features"]) && value["features"].every((feature) => isStac(feature));
    case "Catalog":
    case "Collection":
      return Array.isArray(value["links"]) || "stac_version" in value;
    default:
      // Before 1.0.0 catalogues and collections had no `type`.
      return value["type"] === undefined && "stac_version" in value && Array.isArray(value["links"]);
  }
}

/**
 * Reads a STAC object of any version from 0.8 to 1.1. Tolerant where a catalogue can still be used (no `links`, a numeric id,
 * links without a target, which are left out); members that it does not know are kept.
 * @param where address of the document, for messages
 * @throws {StacError} naming the member at fault and what is expected there
 */
export function parseStac(value: unknown, where: string): StacObject {
  if (!isObject(value)) {
    throw new StacError(where, `is ${nameOf(value)}; a STAC document is a JSON object`);
  }
  switch (value["type"]) {
    case "Feature":
      return parseItem(value, where);
    case "FeatureCollection":
      return parseItemCollection(value, where);
    case "Catalog":
      return parseCatalog(value, where);
    case "Collection":
      return parseCollection(value, where);
    case undefined:
      if ("stac_version" in value) {
        return "extent" in value ? parseCollection(value, where) : parseCatalog(value, where);
      }
      throw new StacError(where, 'has neither "type" nor "stac_version": it is not a STAC document');
    default:
      throw new StacError(
        where,
        `has type ${JSON.stringify(value["type"])}; STAC has Feature, FeatureCollection, Catalog and Collection`,
      );
  }
}

function parseItem(value: Json, where: string): StacItem {
  const { properties, assets = {} } = value;
  if (!isObject(properties)) {
    throw new StacError(where, `"properties" is ${nameOf(properties)}; an item needs an object there`);
  }
  if (!isObject(assets)) {
    throw new StacError(where, `"assets" is ${nameOf(assets)}; an item needs an object of assets by key`);
  }
  return {
    ...value,
    type: "Feature",
    stac_version: readVersion(value),
    id: readId(value, where),
    geometry: value["geometry"] ?? null,
    properties,
    links: readLinks(value),
    assets: readAssets(assets, where),
  };
}

function parseItemCollection(value: Json, where: string): StacItemCollection {
  const { features } = value;
  if (!Array.isArray(features)) {
    throw new StacError(where, `"features" is ${nameOf(features)}; an item collection needs a list of items`);
  }
  return {
    ...value,
    type: "FeatureCollection",
    features: features.map((feature: unknown, index) => {
      const place = `${where} (features[${index}])`;
      if (!isObject(feature) || feature["type"] !== "Feature") {
        throw new StacError(place, "is not a Feature");
      }
      return parseItem(feature, place);
    }),
    links: readLinks(value),
  };
}

function parseCatalog(value: Json, where: string): StacCatalog {
  return {
    ...value,
    type: "Catalog",
    stac_version: readVersion(value),
    id: readId(value, where),
    description: readText(value["description"]) ?? "",
    links: readLinks(value),
  };
}

function parseCollection(value: Json, where: string): StacCollection {
  const { extent, assets } = value;
  const world = { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } };
  return {
    ...value,
    type: "Collection",
    stac_version: readVersion(value),
    id: readId(value, where),
    description: readText(value["description"]) ?? "",
    license: readText(value["license"]) ?? "other",
    extent: isExtent(extent) ? extent : world,
    links: readLinks(value),
    ...(isObject(assets) && { assets: readAssets(assets, where) }),
  };
}

function isExtent(value: unknown): value is StacCollection["extent"] {
  if (!isObject(value) || !isObject(value["spatial"]) || !isObject(value["temporal"])) {
    return false;
  }
  const isListOfLists = (list: unknown) => Array.isArray(list) && list.every((entry) => Array.isArray(entry));
  return isListOfLists(value["spatial"]["bbox"]) && isListOfLists(value["temporal"]["interval"]);
}

function readId({ id }: Json, where: string): string {
  if (typeof id === "number") {
    return String(id);
  }
  if (typeof id !== "string" || id === "") {
    throw new StacError(where, `"id" is ${nameOf(id)}; every STAC object needs a text there`);
  }
  return id;
}

const readVersion = (value: Json): string => readText(value["stac_version"]) ?? "1.0.0";

const readText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function readLinks({ links }: Json): readonly StacLink[] {
  return Array.isArray(links) ? links.filter((link: unknown): link is StacLink => isLink(link)) : [];
}

function isLink(link: unknown): boolean {
  return isObject(link) && typeof link["rel"] === "string" && typeof link["href"] === "string" && link["href"] !== "";
}

function readAssets(assets: Json, where: string): Record<string, StacAsset> {
  const read: Record<string, StacAsset> = Object.create(null) as Record<string, StacAsset>;
  for (const [key, asset] of Object.entries(assets)) {
    if (!isObject(asset) || typeof asset["href"] !== "string" || asset["href"] === "") {
      throw new StacError(where, `the asset "${key}" has no "href"; each asset says where its file is`);
    }
    const { href, type, "file:size": size, "file:checksum": checksum, ...others } = asset;
    read[key] = {
      ...others,
      href,
      ...(typeof type === "string" && { type }),
      ...(typeof size === "number" && { "file:size": size }),
      ...(typeof checksum === "string" && { "file:checksum": checksum }),
    };
  }
  return read;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  return value === undefined
    ? "missing"
    : value === null
      ? "null"
      : Array.isArray(value)
        ? "a list"
        : `a ${typeof value}`;
}
