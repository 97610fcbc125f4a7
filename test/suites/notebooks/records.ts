// Records at the places, and with the collections, that the notebooks have in their code.

type Box = readonly [west: number, south: number, east: number, north: number];
type Json = Readonly<Record<string, unknown>>;

export interface SeededCollection {
  readonly collection: Json & { readonly id: string };
  readonly items: readonly (Json & { readonly id: string })[];
}

const COG = "image/tiff; application=geotiff; profile=cloud-optimized";
const WORLD: Box = [-180, -90, 180, 90];
const DELFZIJL: Box = [6.3, 53, 7.5, 53.9];
const MAINE: Box = [-73.2, 44, -70.2, 47];
const ICELAND: Box = [-24.8, 63.5, -24.2, 64.5];
const SAN_FRANCISCO: Box = [-124, 36, -120, 39];
/** 512 × 1,024 pixels of 10 m from 500 km east, 7,400 km north of UTM 25N. */
const GREENLAND: Box = [-33, 66.62, -32.884, 66.72];

const BANDS_OF_CUBE = {
  "cube:dimensions": {
    x: { type: "spatial", axis: "x", extent: [500_000, 505_120], reference_system: 32_625 },
    y: { type: "spatial", axis: "y", extent: [7_389_760, 7_400_000], reference_system: 32_625 },
    t: { type: "temporal", extent: ["2023-07-01T00:00:00Z", "2023-07-03T23:59:59Z"] },
    bands: { type: "bands", values: ["B04", "B08"] },
  },
  "cube:variables": {
    B04: { type: "data", dimensions: ["t", "y", "x"], description: "Red" },
    B08: { type: "data", dimensions: ["t", "y", "x"], description: "Near infrared" },
  },
};

/**
 * What the platform has before the notebooks run.
 *
 * @param filesUrl where `B04.tif` and `B08.tif` are, for clients
 * @param bucketUrl where `elevation.tif` is, for the platform
 */
export function listSeededCollections(filesUrl: string, bucketUrl: string): readonly SeededCollection[] {
  const bands = Object.fromEntries(
    ["B04", "B08"].map((name) => [name, { href: `${filesUrl}/${name}.tif`, type: COG, roles: ["data"] }]),
  );
  return [
    seed("aster-l1t", "ASTER L1T", DELFZIJL, "2003", 30),
    seed("landsat-8-c2-l2", "Landsat 8 Level 2", DELFZIJL, "2019", 30),
    seed("landsat-c2-l2", "Landsat Level 2", DELFZIJL, "2019", 3),
    seed("sentinel-2-l2a", "Sentinel-2 Level-2A", MAINE, "2023", 20),
    seed("elevation", "Elevation", SAN_FRANCISCO, "2020", 1, {
      data: { href: `${bucketUrl}/elevation.tif`, type: COG },
    }),
    seed("sentinel-2-datacube", "Sentinel-2 as a data cube", GREENLAND, "2023", 3, bands, BANDS_OF_CUBE),
  ];
}

/** `collections.json` and `items.json` of the deployment guide's `sentinel-2-iceland`. */
export function createIceland(filesUrl: string): SeededCollection {
  const visual = { visual: { href: `${filesUrl}/B04.tif`, type: COG, roles: ["visual"] } };
  return seed("sentinel-2-iceland", "Sentinel-2 of Iceland", ICELAND, "2023", 6, visual);
}

/** Documents that the notebooks of release 2.0 read beside themselves. */
export function listNeighbours(owsUrl: string): Readonly<Record<string, Json>> {
  const service = (name: string) => `${owsUrl}?service=${name}&request=GetCapabilities`;
  return {
    "example-collection.json": createCollection("example-collection", "Example collection", WORLD),
    "example-item.json": createItem("example-collection", "example-item", [0, 0, 0, 0], "2024-01-01T00:00:00Z"),
    "london-example-item.json": {
      ...createItem("metadata:main", "london-example-item", [-0.15, 51.48, -0.08, 51.52], "2024-01-01T00:00:00Z"),
      links: ["WMS", "WCS"].map((name) => ({
        rel: "service",
        href: service(name),
        type: "application/xml",
        title: name,
      })),
    },
  };
}

/** The collection that `resource-registration.ipynb` registers; as where it was published, it has no `links`. */
export const REGISTERED_COLLECTION: Json = {
  ...createCollection("S2MSI2A", "Sentinel-2 MSI Level 2A", [-180, -56, 180, 82]),
  links: undefined,
};

function seed(
  id: string,
  title: string,
  box: Box,
  year: string,
  count: number,
  assets: Json = {},
  more: Json = {},
): SeededCollection {
  return {
    collection: { ...createCollection(id, title, box), ...more },
    items: Array.from({ length: count }, (_, index) => {
      const day = `${year}-07-${String((index % 30) + 1).padStart(2, "0")}T10:00:00Z`;
      const properties = {
        "eo:cloud_cover": (index * 100) / Math.max(count - 1, 1),
        "view:sun_azimuth": 150 + index,
        "view:sun_elevation": 50 - index / 2,
      };
      return createItem(id, `${id}-${index}`, box, day, properties, assets);
    }),
  };
}

function createCollection(id: string, title: string, box: Box): Json & { readonly id: string } {
  return {
    type: "Collection",
    stac_version: "1.0.0",
    id,
    title,
    description: title,
    license: "other",
    extent: { spatial: { bbox: [box] }, temporal: { interval: [["2000-01-01T00:00:00Z", null]] } },
    links: [],
  };
}

function createItem(
  collection: string,
  id: string,
  [west, south, east, north]: Box,
  datetime: string,
  properties: Json = {},
  assets: Json = {},
): Json & { readonly id: string } {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return {
    type: "Feature",
    stac_version: "1.0.0",
    id,
    collection,
    geometry: west === east ? { type: "Point", coordinates: [west, south] } : { type: "Polygon", coordinates: [ring] },
    bbox: [west, south, east, north],
    properties: { datetime, ...properties },
    assets,
    links: [],
  };
}
