const TYPES: Readonly<Record<string, string>> = {
  tif: "image/tiff; application=geotiff", tiff: "image/tiff; application=geotiff", jp2: "image/jp2",
  json: "application/json", geojson: "application/geo+json", yaml: "application/yaml", yml: "application/yaml", cwl: "application/cwl",
  txt: "text/plain", log: "text/plain", md: "text/markdown", csv: "text/csv", xml: "application/xml", html: "text/html",
  png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", svg: "image/svg+xml",
  pdf: "application/pdf", zip: "application/zip", gz: "application/gzip", nc: "application/netcdf", parquet: "application/vnd.apache.parquet",
}; // prettier-ignore

/** What a file is, from its name where the names of Earth observation are known, else as the browser says. */
export function contentTypeOf(name: string, browsers = ""): string {
  const known = TYPES[/\.([^.]+)$/.exec(name.toLowerCase())?.[1] ?? ""];
  return known ?? (browsers === "" ? "application/octet-stream" : browsers);
}
