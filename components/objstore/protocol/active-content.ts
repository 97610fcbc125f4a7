/**
 * Types that browsers show or store and never run. Everything else may act as a page when it is opened: a page of the platform's domain,
 * made by anybody who may write to a bucket, whose requests the logins in cookies would come along with.
 */
const HARMLESS = new Set([
  "application/cbor",
  "application/geo+json",
  "application/geopackage+sqlite3",
  "application/gzip",
  "application/json",
  "application/netcdf",
  "application/octet-stream",
  "application/parquet",
  "application/pdf",
  "application/vnd.apache.parquet",
  "application/x-hdf",
  "application/x-hdf5",
  "application/x-netcdf",
  "application/x-tar",
  "application/zip",
  "application/zstd",
  "binary/octet-stream",
  "text/csv",
  "text/plain",
  "text/tab-separated-values",
]);
/** Pictures with scripts (SVG) are not among them. */
const HARMLESS_MEDIA =
  /^(?:audio|video)\/[\w.+-]+$|^image\/(?:avif|bmp|gif|heic|jp2|jpeg|jxl|png|tiff|vnd\.microsoft\.icon|webp|x-icon)$|^font\/[\w.+-]+$/;

/** A page in an origin of its own (CSP Level 3, `sandbox`): its scripts run, and nobody takes it for a page of the platform. */
const OWN_ORIGIN = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

/** Headers that keep an object of this type from acting in the name of whoever looks at it. */
export function confineActiveContent(contentType: string | undefined): readonly string[] {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return HARMLESS.has(type) || (HARMLESS_MEDIA.test(type) && !type.includes("xml"))
    ? []
    : ["content-security-policy", OWN_ORIGIN];
}
