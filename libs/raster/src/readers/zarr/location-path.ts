import type { SourceLocation } from "../../sources/source.ts";

/** Files that hold metadata of a Zarr hierarchy, by which it may be addressed (Zarr 2, Zarr 3). */
export const METADATA: RegExp = /(^|\/)(zarr\.json|\.zarray|\.zgroup|\.zattrs|\.zmetadata)$/;
/** A file of another format inside of a product. */
const OTHER_FILE = /\.(tiff?|jp2|png|jpe?g|nc|h5|xml|html?|pdf)$/i;
/** Data by references to other files has the media type of Zarr, too. */
const REFERENCES = /\.json$/i;

/** References in Parquet are a folder, whose name ends so. */
const PARQUET = /\.parq(uet)?$/i;

/** Whether an address is one of Zarr data: by a name that ends in `.zarr`, its own or of a folder above, by a file of metadata, or by one of references in Parquet. */
export function isZarrLocation(location: SourceLocation): boolean {
  const path = rawPathOf(location);
  return (
    (location.format === "zarr" && !REFERENCES.test(path)) ||
    METADATA.test(path) ||
    /\.parq\/?$/i.test(path) ||
    (/\.zarr(\/|$)/i.test(path) && !OTHER_FILE.test(path))
  );
}

export const isParquetReferences = (location: SourceLocation): boolean => PARQUET.test(pathOf(location));

/** The path of a group or array, without its file of metadata and without a slash at its end. */
export const pathOf = (location: SourceLocation): string =>
  rawPathOf(location).replace(METADATA, "$1").replace(/\/+$/, "");

/** The same place with another path; `path` is as `pathOf` gives it. */
export function withPath(location: SourceLocation, path: string): SourceLocation {
  switch (location.kind) {
    case "file":
      return { ...location, path };
    case "http": {
      const url = new URL(location.url);
      url.pathname = path;
      return { ...location, url: url.href };
    }
    case "s3":
      return { ...location, key: path };
  }
}

function rawPathOf(location: SourceLocation): string {
  switch (location.kind) {
    case "file":
      return location.path;
    case "http":
      return URL.canParse(location.url) ? new URL(location.url).pathname : location.url;
    case "s3":
      return location.key;
  }
}
