const RASTERS = /\.tiff?$/i;
const IMAGES = /\.(png|jpe?g|gif|webp|avif|svg)$/i;
const TEXTS = /\.(txt|md|json|geojson|csv|tsv|xml|ya?ml|cwl|log|ini|toml|prj|wkt|py|sh|r|html?|aux\.xml)$/i;
/** Longer texts are for a program of the reader's own. */
const MAX_TEXT = 512 * 1024;
const MAX_IMAGE = 30 * 2 ** 20;

/** How a file can be shown. */
export function kindOf(name: string, size: number): "image" | "raster" | "text" | "none" {
  if (RASTERS.test(name)) {
    return "raster";
  }
  if (IMAGES.test(name) && size <= MAX_IMAGE) {
    return "image";
  }
  return TEXTS.test(name) && size <= MAX_TEXT ? "text" : "none";
}

/** JSON with indentation; anything else as it is. */
export function prettify(name: string, text: string): string {
  if (!/json$/i.test(name)) {
    return text;
  }
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // What calls itself JSON and is none is shown as it is.
    return text;
  }
}
