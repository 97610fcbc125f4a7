export type PreviewKind = "image" | "geotiff" | "json" | "text" | "none";

const TEXTS = /\.(?:txt|log|md|csv|tsv|ya?ml|cwl|xml|html?|css|js|ts|py|r|sh|toml|ini|cfg|wkt|prj)$/;

/** How an object is shown: by its name, then by its type. */
export function kindOf(key: string, type: string): PreviewKind {
  const name = key.toLowerCase();
  const media = type.toLowerCase().split(";", 1)[0]?.trim() ?? "";
  if (/\.tiff?$/.test(name) || media === "image/tiff") {
    return "geotiff";
  }
  if (
    /\.(?:png|jpe?g|gif|webp|svg|avif|bmp)$/.test(name) ||
    /^image\/(?:png|jpeg|gif|webp|svg\+xml|avif|bmp)$/.test(media)
  ) {
    return "image";
  }
  if (/\.(?:geo)?json$/.test(name) || media === "application/json" || media.endsWith("+json")) {
    return "json";
  }
  return TEXTS.test(name) ||
    media.startsWith("text/") ||
    /^application\/(?:xml|yaml|cwl)$/.test(media) ||
    media.endsWith("+xml")
    ? "text"
    : "none";
}
