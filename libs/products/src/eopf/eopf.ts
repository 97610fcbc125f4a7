import type { StacAsset, StacItem } from "@swath/stac";
import { boundsOf } from "@swath/stac/geometry";
import { repairGeometry } from "@swath/stac/repair-geometry";

import { ProductError } from "../errors.ts";
import { type Footprint, type Position, toFootprint } from "../footprint.ts";
import { COPERNICUS_LICENCE, createItem } from "../item.ts";
import type { ProductFiles } from "../product-files.ts";
import type { ProductPlace } from "../product-family.ts";

type Json = Readonly<Record<string, unknown>>;

const MAX_METADATA_BYTES = 16 * 2 ** 20;
const MAX_GROUPS = 200;
const MAX_BANDS = 100;

/** What a store says of itself, of Zarr 2 and 3 alike. */
interface Store {
  readonly version: 2 | 3;
  readonly path: string;
  readonly attributes: Json;
  /** Arrays by their paths, with the number of their dimensions. */
  readonly arrays: ReadonlyMap<string, { readonly dimensions: number; readonly type: string | undefined }>;
}

/**
 * The item of an EOPF product: what its attribute `stac_discovery` says, and an asset for each group of measurements with the bands in it.
 * @throws {ProductError}
 */
export async function convertEopf(files: ProductFiles, { name, describedBy }: ProductPlace): Promise<StacItem> {
  const store = await readStore(files, describedBy);
  const discovery = recordOf(store.attributes["stac_discovery"]);
  if (discovery === undefined) {
    throw new ProductError(`${store.path} has no attribute stac_discovery; the product is not one of EOPF.`);
  }
  const properties = recordOf(discovery["properties"]) ?? {};
  if (typeof properties["datetime"] !== "string" && typeof properties["start_datetime"] !== "string") {
    throw new ProductError(`stac_discovery in ${store.path} has no datetime; the product is not whole.`);
  }
  const id = name.replace(/\.zarr$/i, "");
  return createItem({
    id,
    collection: toCollection(id, properties),
    footprint: readFootprint(discovery, store.path),
    properties: keepKnown(properties),
    assets: {
      product: {
        href: files.href("").replace(/\/$/, ""),
        type: mediaTypeOf(store),
        title: "The whole product",
        roles: ["data", "metadata"],
      },
      ...describeGroups(files, store),
    },
    links: [COPERNICUS_LICENCE],
  });
}

async function readStore(files: ProductFiles, named: string): Promise<Store> {
  const other = named === "zarr.json" ? ".zmetadata" : "zarr.json";
  // A place that cannot be listed is asked for the one, then for the other.
  const path = files.paths.length > 0 && !files.paths.includes(named) ? other : named;
  const bytes = await files.read(path).catch((error: unknown) => {
    if (files.paths.length > 0) {
      throw error;
    }
  });
  const [found, content] = bytes === undefined ? [other, await files.read(other)] : [path, bytes];
  if (content.length > MAX_METADATA_BYTES) {
    throw new ProductError(`${found} has more than ${MAX_METADATA_BYTES} bytes.`);
  }
  const document = parse(content, found);
  return found === "zarr.json" ? readVersion3(document, found) : readVersion2(document, found);
}

function parse(bytes: Buffer, path: string): Json {
  try {
    return recordOf(JSON.parse(bytes.toString("utf8"))) ?? {};
  } catch (cause) {
    throw new ProductError(`${path} is not JSON.`, { cause });
  }
}

function readVersion2(document: Json, path: string): Store {
  const metadata = recordOf(document["metadata"]) ?? {};
  const arrays = Object.entries(metadata).flatMap(([key, value]) => {
    const array = recordOf(value);
    return key.endsWith("/.zarray") && Array.isArray(array?.["shape"])
      ? [
          [
            key.slice(0, -"/.zarray".length),
            { dimensions: array["shape"].length, type: textOf(array["dtype"]) },
          ] as const,
        ]
      : [];
  });
  return { version: 2, path, attributes: recordOf(metadata[".zattrs"]) ?? {}, arrays: new Map(arrays) };
}

function readVersion3(document: Json, path: string): Store {
  const metadata = recordOf(recordOf(document["consolidated_metadata"])?.["metadata"]) ?? {};
  const arrays = Object.entries(metadata).flatMap(([key, value]) => {
    const node = recordOf(value);
    return node?.["node_type"] === "array" && Array.isArray(node["shape"])
      ? [[key, { dimensions: node["shape"].length, type: textOf(node["data_type"]) }] as const]
      : [];
  });
  return { version: 3, path, attributes: recordOf(document["attributes"]) ?? {}, arrays: new Map(arrays) };
}

/** `sentinel-2-l2a-zarr`: the same scenes as SAFE have other assets, and are in a collection of their own. */
function toCollection(id: string, properties: Json): string {
  const type =
    textOf(properties["product:type"]) ?? /MSIL(1C|2A)|_(GRD|SLC|OCN)/.exec(id)?.slice(1).find(Boolean) ?? "";
  const short = type
    .toLowerCase()
    .replace(/^s\d+msi(?:l)?/, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  const level = /^(?:1c|2a)$/.test(short) ? `l${short}` : short;
  return `sentinel-${id.charAt(1)}${level === "" ? "" : `-${level}`}-zarr`;
}

/** Properties of STAC; what the processor adds as objects of its own is in the product. */
const keepKnown = (properties: Json): Json =>
  Object.fromEntries(
    Object.entries(properties).filter(
      ([key, value]) =>
        value !== null &&
        (/^[a-z_]+$/.test(key) || /^(?:eo|eopf|grid|processing|product|proj|sar|sat|view):/.test(key)),
    ),
  );

function readFootprint(discovery: Json, path: string): Footprint {
  const geometry = recordOf(discovery["geometry"]);
  const rings = geometry?.["type"] === "Polygon" ? (geometry["coordinates"] as unknown) : undefined;
  const ring: unknown = Array.isArray(rings) ? rings[0] : undefined;
  if (Array.isArray(ring) && ring.every((each) => Array.isArray(each) && each.length >= 2)) {
    return toFootprint(
      (ring as readonly (readonly number[])[]).map(([x = Number.NaN, y = Number.NaN]): Position => [x, y]),
    );
  }
  if (geometry?.["type"] === "MultiPolygon" && Array.isArray(geometry["coordinates"])) {
    const repaired = repairGeometry(geometry) as Footprint["geometry"];
    const bbox = discovery["bbox"];
    const parts = (repaired.type === "Polygon" ? [repaired.coordinates] : repaired.coordinates) as Position[][][];
    return { geometry: repaired, bbox: isBox(bbox) ? bbox : boundsOf(parts.map(([outer = []]) => outer)) };
  }
  throw new ProductError(`stac_discovery in ${path} has no geometry; the product is not whole.`);
}

const isBox = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length === 4 && value.every(Number.isFinite);

/** An asset for each group below `measurements` that has arrays of two dimensions or more, with their names as bands. */
function describeGroups(files: ProductFiles, store: Store): Readonly<Record<string, StacAsset>> {
  const groups = new Map<string, { readonly name: string; readonly type: string | undefined }[]>();
  for (const [path, { dimensions, type }] of store.arrays) {
    const [, group = "", name = ""] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
    if (/(?:^|\/)measurements(?:\/|$)/.test(group) && dimensions >= 2) {
      groups.set(group, [...(groups.get(group) ?? []), { name, type }]);
    }
  }
  return Object.fromEntries(
    [...groups].slice(0, MAX_GROUPS).map(([group, bands]) => [
      group.replace(/^(.*\/)?measurements\/?/, "$1").replaceAll("/", "_") || "measurements",
      {
        href: files.href(group),
        type: mediaTypeOf(store),
        roles: ["data"],
        bands: bands.slice(0, MAX_BANDS).map(({ name }) => ({ name })),
      },
    ]),
  );
}

const mediaTypeOf = ({ version }: Store): string => `application/vnd.zarr; version=${version}`;

const recordOf = (value: unknown): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
