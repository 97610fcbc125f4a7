/** One part of a provider's offering. */
export interface OfferedCollection {
  readonly name: string;
  /** As the provider's OpenSearch calls the collection. */
  readonly catalogue: string;
  /** As a STAC API does. */
  readonly stac: string;
  /** What its search is narrowed by. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Collections of the catalogue that its items go to, where they are described before the first item comes. */
  readonly collections: readonly { readonly id: string }[];
}

interface About {
  readonly title: string;
  readonly description: string;
  readonly since: string;
  readonly providers: readonly object[];
}

const COPERNICUS = [
  { name: "European Union, Copernicus", roles: ["licensor"], url: "https://www.copernicus.eu/" },
  { name: "ESA", roles: ["producer", "processor"], url: "https://www.esa.int/" },
];
const USGS = [{ name: "USGS", roles: ["licensor", "producer"], url: "https://www.usgs.gov/landsat-missions" }];

/** Sentinel-1 GRD and SLC, Sentinel-2, Sentinel-3, Landsat-8. */
export const OFFERING: readonly OfferedCollection[] = [
  {
    name: "Sentinel1-GRD",
    catalogue: "Sentinel1",
    stac: "sentinel-1-grd",
    parameters: { productType: "GRD" },
    collections: [
      toCollection("sentinel-1-grd", {
        title: "Sentinel-1 GRD",
        description: "C-band radar, ground range detected, of Sentinel-1",
        since: "2014-10-03T00:00:00Z",
        providers: COPERNICUS,
      }),
    ],
  },
  {
    name: "Sentinel1-SLC",
    catalogue: "Sentinel1",
    stac: "sentinel-1-slc",
    parameters: { productType: "SLC" },
    collections: [
      toCollection("sentinel-1-slc", {
        title: "Sentinel-1 SLC",
        description: "C-band radar, single look complex, of Sentinel-1",
        since: "2014-10-03T00:00:00Z",
        providers: COPERNICUS,
      }),
    ],
  },
  {
    name: "Sentinel2",
    catalogue: "Sentinel2",
    stac: "sentinel-2-l2a",
    collections: [
      toCollection("sentinel-2-l1c", {
        title: "Sentinel-2 Level-1C",
        description: "Top-of-atmosphere reflectance in 13 bands of Sentinel-2",
        since: "2015-06-27T00:00:00Z",
        providers: COPERNICUS,
      }),
      toCollection("sentinel-2-l2a", {
        title: "Sentinel-2 Level-2A",
        description: "Surface reflectance and scene classification of Sentinel-2",
        since: "2015-06-27T00:00:00Z",
        providers: COPERNICUS,
      }),
    ],
  },
  // Its products are of many kinds; each kind is a collection of its own, made when the first comes.
  { name: "Sentinel3", catalogue: "Sentinel3", stac: "sentinel-3", collections: [] },
  {
    name: "Landsat8",
    catalogue: "Landsat8",
    stac: "landsat-c2-l2",
    collections: [
      toCollection("landsat-c1-l1", {
        title: "Landsat Collection 1 Level-1",
        description: "Top-of-atmosphere radiance and temperature of Landsat-8",
        since: "2013-04-11T00:00:00Z",
        providers: USGS,
      }),
    ],
  },
];

function toCollection(id: string, { title, description, since, providers }: About) {
  return {
    type: "Collection",
    stac_version: "1.1.0",
    stac_extensions: [],
    id,
    title,
    description,
    license: "other",
    providers,
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[since, null]] } },
    links: [],
  };
}
