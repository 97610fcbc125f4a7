import { MEDIA_TYPES } from "@swath/stac";
import mime from "mime-types";

/** Names of the files of Earth observation that the general table does not know. */
const OWN: Readonly<Record<string, string>> = {
  tif: MEDIA_TYPES.geotiff,
  tiff: MEDIA_TYPES.geotiff,
  geojson: MEDIA_TYPES.item,
  gpkg: "application/geopackage+sqlite3",
  parquet: "application/vnd.apache.parquet",
  cwl: "application/cwl",
  nc: "application/x-netcdf",
  jp2: "image/jp2",
};

/** Media type by a file's name. */
export function mediaTypeOf(path: string): string {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const known = Object.hasOwn(OWN, extension) ? OWN[extension] : undefined;
  const looked = mime.lookup(extension);
  return known ?? (looked === false ? "application/octet-stream" : looked);
}
