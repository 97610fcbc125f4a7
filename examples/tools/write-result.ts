import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { MEDIA_TYPES, type StacAsset, type StacItem, relativeHref } from "@swath/stac";

import type { Grid } from "./grid.ts";

/** A file of a result in the working directory. */
export interface ResultFile {
  readonly key: string;
  readonly name: string;
  readonly title: string;
  readonly kind: "cog" | "thumbnail";
  readonly band?: { readonly data_type: string; readonly nodata: number };
}

export interface Result {
  readonly id: string;
  /** The scene whose place and date the result has. */
  readonly like: Pick<StacItem, "geometry" | "bbox">;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly grid: Grid;
  readonly files: readonly ResultFile[];
}

const VERSION = "1.1.0";
const EXTENSIONS = ["https://stac-extensions.github.io/projection/v2.0.0/schema.json"];

/** Writes `<id>.json` and `catalog.json` into a directory whose files are there already. */
export async function writeResult(directory: string, { id, like, properties, grid, files }: Result): Promise<void> {
  const item: StacItem = {
    type: "Feature",
    stac_version: VERSION,
    stac_extensions: EXTENSIONS,
    id,
    geometry: like.geometry,
    ...(like.bbox !== undefined && { bbox: like.bbox }),
    properties: { ...properties, "proj:code": `EPSG:${grid.epsg}` },
    links: [
      { rel: "root", href: "./catalog.json", type: MEDIA_TYPES.json },
      { rel: "parent", href: "./catalog.json", type: MEDIA_TYPES.json },
    ],
    assets: Object.fromEntries(files.map((file) => [file.key, toAsset(file, grid)])),
  };
  await writeJson(join(directory, `${id}.json`), item);
  await writeCatalog(directory, id, [`${id}.json`]);
}

/** `catalog.json` with links to items by their paths in the directory. */
export async function writeCatalog(directory: string, id: string, items: readonly string[]): Promise<void> {
  await writeJson(join(directory, "catalog.json"), {
    type: "Catalog",
    stac_version: VERSION,
    id,
    description: `Results of ${id}`,
    links: [
      { rel: "root", href: "./catalog.json", type: MEDIA_TYPES.json },
      ...items.map((path) => ({ rel: "item", href: relativeHref("catalog.json", path), type: MEDIA_TYPES.item })),
    ],
  });
}

function toAsset({ name, title, kind, band }: ResultFile, grid: Grid): StacAsset {
  if (kind === "thumbnail") {
    return { href: `./${name}`, type: "image/png", title, roles: ["thumbnail"] };
  }
  return {
    href: `./${name}`,
    type: MEDIA_TYPES.cog,
    title,
    roles: ["data"],
    "proj:shape": [grid.height, grid.width],
    "proj:transform": [grid.pixel, 0, grid.west, 0, -grid.pixel, grid.north],
    ...(band !== undefined && { bands: [band] }),
  };
}

export async function writeJson(path: string, value: object): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
