import { fixed, type VariableGroup } from "../define.ts";
import { boolean, choice, secret, text, url } from "../value-types.ts";

/** A cloud provider's data offering, harvested into the catalogue and data access. */
export const cloudDataVariables = {
  CLOUDDATA_DATA_SPECIFICATION: {
    type: boolean,
    fallback: fixed(false),
    meaning:
      "Harvest the cloud provider's data offering (Sentinel-1 GRD and SLC, Sentinel-2, Sentinel-3, Landsat-8) into the resource catalogue and data access. Usable only inside that provider's cloud with access to its data network.",
    aliases: ["CREODIAS_DATA_SPECIFICATION"],
  },
  CLOUDDATA_CATALOGUE_URL: {
    type: url(["https", "http"]),
    fallback: fixed("https://datahub.creodias.eu/resto/api/collections"),
    meaning:
      "Catalogue of the provider's offering, which may be at a private address: the address below which each collection has its OpenSearch description (`/Sentinel2/describe.xml`), or a STAC API.",
  },
  CLOUDDATA_CATALOGUE_TYPE: {
    type: choice(["OpenSearch", "STACAPI"]),
    fallback: fixed("OpenSearch" as const),
    meaning: "What the provider's catalogue speaks.",
  },
  CLOUDDATA_AREA: {
    type: text({
      pattern: /^-?\d+(\.\d+)?(,-?\d+(\.\d+)?){3}$/,
      allowed: "west,south,east,north in degrees",
    }),
    fallback: fixed("14.9,47.7,16.4,48.7"),
    meaning: "Area whose products are harvested: west,south,east,north in degrees.",
  },
  CLOUDDATA_TIME: {
    type: text({
      pattern: /^\d{4}-\d{2}-\d{2}T[\d:.]+Z\/(\d{4}-\d{2}-\d{2}T[\d:.]+Z|\.\.)$/,
      allowed: "begin/end such as 2022-08-30T00:00:00Z/2022-08-31T00:00:00Z; .. as the end: until now and on",
    }),
    fallback: fixed("2022-08-30T00:00:00Z/2022-08-31T00:00:00Z"),
    meaning: "When the harvested products were sensed: begin/end; `..` as the end goes on with what is new.",
  },
  CLOUDDATA_SCHEDULE: {
    type: text({ pattern: /^[\d*/, -]+[smhd]?$/, allowed: "a cron expression (UTC), or an interval such as 12h" }),
    fallback: fixed("12h"),
    meaning: "When the provider's offering is harvested: a cron expression in UTC, or an interval.",
  },
  CLOUDDATA_S3_ENDPOINT: {
    type: url(["https", "http"]),
    fallback: fixed("http://data.cloudferro.com"),
    meaning: "Object storage of the provider's data network, which products and their files are read from.",
  },
  CLOUDDATA_S3_REGION: {
    type: text({ pattern: /^[A-Za-z0-9][\w-]{0,62}$/, allowed: "a region: letters, digits, _ and -" }),
    fallback: fixed("RegionOne"),
    meaning: "Its region, as signatures name it.",
  },
  CLOUDDATA_S3_ACCESS_KEY: {
    type: text({ pattern: /^[\w.@+/=-]{1,128}$/, allowed: "an access key id" }),
    fallback: fixed("test"),
    meaning: "Access key for it. Inside the provider's network any is taken.",
  },
  CLOUDDATA_S3_SECRET_KEY: {
    type: secret(),
    fallback: fixed(undefined),
    meaning: "Secret of that key; `test` when left out, as inside the provider's network any is taken.",
  },
} satisfies VariableGroup;
