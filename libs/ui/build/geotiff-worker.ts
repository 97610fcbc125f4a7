import { join } from "node:path";

import type { Plugin } from "vite";

const OWN = join(import.meta.dirname, "../src/map/create-decoder-worker.ts");

/**
 * The GeoTIFF library starts its worker from a text in its script (`blob:`), which the pages' policy forbids. This puts a
 * worker of the deployment in its place.
 */
export function geotiffWorker(): Plugin {
  return {
    name: "geotiff-worker",
    enforce: "pre",
    resolveId: (source, importer) =>
      source.endsWith("/worker/create.js") && importer?.includes("/geotiff/") === true ? OWN : undefined,
  };
}
