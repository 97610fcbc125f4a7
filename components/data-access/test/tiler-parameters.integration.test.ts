import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { getJson, start } from "./fixture.ts";

const SCENES = join(import.meta.dirname, "../../../examples/scenes");

/** What each parameter is given as. A different answer, or 400, is expected of the request that has it. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  bidx: ["bidx=7", "bidx=x"],
  expression: ["expression=log(red)", "expression=log(b1)"],
  nodata: ["nodata=x"],
  unscale: ["unscale=x"],
  sel: ["sel=level=3", "sel=x"],
  variable: ["variable=none"],
  assets: ["assets=nir&assets=red&assets=scl", "assets=none"],
  asset_bidx: ["asset_bidx=red|9"],
  asset_expression: ["assets=red&asset_expression=red|log(b1)"],
  asset_as_band: ["asset_as_band=x"],
  style: ["style=none"],
  datetime: ["datetime=1999-01-01"],
  ids: ["ids=none"],
  pixel_selection: ["pixel_selection=best"],
  sortby: ["sortby=best"],
  bbox: ["bbox=15.3,46.3,15.4,46.4"],
  resampling: ["resampling=best"],
  resampling_method: ["resampling_method=best"],
  reproject: ["reproject=cubic"],
  rescale: ["rescale=0,500", "rescale=x"],
  colormap: ['colormap={"0":"x"}', "colormap=x"],
  colormap_name: ["colormap_name=none"],
  color_formula: ["color_formula=gamma+RGB+2", "color_formula=sigmoidal+RGB+6+0.1", "color_formula=saturation+2"],
  return_mask: ["return_mask=x"],
  algorithm: ["algorithm=hillshade", "algorithm=terrarium", "algorithm=none"],
  algorithm_params: ['algorithm_params={"azimuth":1}'],
  width: ["width=33", "width=x"],
  height: ["height=33", "height=x"],
  max_size: ["max_size=33", "max_size=x"],
  tilesize: ["tilesize=100", "tilesize=x"],
  buffer: ["buffer=2", "buffer=0.5", "buffer=0.3"],
  padding: ["padding=2"],
  format: ["format=webp", "format=x"],
  tile_format: ["tile_format=webp"],
  minzoom: ["minzoom=3", "minzoom=x"],
  maxzoom: ["maxzoom=13", "maxzoom=x"],
  f: ["f=webp", "f=x"],
  crs: ["crs=EPSG:3857", "crs=x"],
  "bbox-crs": ["bbox-crs=EPSG:3857", "bbox-crs=x"],
  coord_crs: ["coord_crs=EPSG:3857", "coord_crs=x"],
  dst_crs: ["dst_crs=EPSG:3857", "dst_crs=x"],
  p: ["p=31", "p=x"],
  categorical: ["categorical=true", "categorical=x"],
  c: ["c=4", "categorical=true&c=4"],
  histogram_bins: ["histogram_bins=3", "histogram_bins=x"],
  histogram_range: ["histogram_range=0,77", "histogram_range=3,1"],
};
const AREA = {
  type: "Feature",
  properties: {},
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [15.2, 46.3],
        [15.4, 46.3],
        [15.4, 46.4],
        [15.2, 46.3],
      ],
    ],
  },
};

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
}

test("every parameter of every path of the tilers has an effect or is refused", async (t) => {
  const scenes = mkdtempSync(join(tmpdir(), "tiler-parameters-"));
  t.after(() => rmSync(scenes, { recursive: true }));
  for (const name of ["maribor-0818", "maribor-0820"]) {
    cpSync(join(SCENES, name), join(scenes, name), { recursive: true });
  }
  const { url, files } = await start(t, {}, scenes);
  const { collections } = (await getJson(`${url}/collections`)) as unknown as { collections: { id: string }[] };
  const collection = collections[0]!.id;
  const registered = await fetch(`${url}/searches/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ collections: [collection] }),
  });
  const { id: search } = (await registered.json()) as { id: string };
  const { assets } = (await getJson(`${url}/collections/${collection}/point/15.3,46.35?assets=red`)) as unknown as {
    assets: { name: string }[];
  };
  const item = assets[0]!.name;
  const send = async ({ method, path }: Operation, query: string) => {
    const place = path
      .replace("{collection}", collection)
      .replace("{item}", item)
      .replace("{search}", search)
      .replace("{lonlat}", "15.3,46.35")
      .replace("{bbox}", "15.2,46.3,15.4,46.4")
      .replace("{size}", "24x20")
      .replace("{format}", "png")
      .replace("{tms}", "WebMercatorQuad")
      .replace("{z}/{x}/{y}", "9/277/181");
    const response = await fetch(`${url}${place}?${query}`, {
      method,
      ...(method === "POST" && { body: JSON.stringify(AREA), headers: { "content-type": "application/json" } }),
    });
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()).toString("latin1") };
  };
  const faults: string[] = [];
  const operations = await listOperations(url);
  assert.ok(operations.length > 60, `${operations.length} operations`);
  for (const operation of operations) {
    const { method, path, parameters } = operation;
    const base = baseOf(operation, `${files}/maribor-0820/B04.tif`);
    const plain = await send(operation, base);
    if (plain.status !== 200) {
      faults.push(`${method} ${path}: ${plain.status} ${plain.body.slice(0, 200)}`);
      continue;
    }
    const unknown = await send(operation, `${base}&nonsense=1`);
    if (unknown.status !== 400) {
      faults.push(`${method} ${path} nonsense: ${unknown.status}`);
    }
    for (const name of parameters.filter((each) => each !== "url")) {
      for (const value of VALUES[name] ?? []) {
        const own = value.split("&").map((part) => part.split("=", 1)[0]!);
        const others = base.split("&").filter((part) => !own.includes(part.split("=", 1)[0]!));
        const { status, body } = await send(operation, [...others, value].join("&"));
        if (status >= 500 || (status === 200 && body === plain.body)) {
          faults.push(`${method} ${path} ${value}: ${status}`);
        }
      }
      if (VALUES[name] === undefined) {
        faults.push(`${name} has no value in this test`);
      }
    }
    for (const name of Object.keys(VALUES).filter((each) => !parameters.includes(each))) {
      const { status } = await send(operation, `${base}&${VALUES[name]![0]!}`);
      if (status !== 400) {
        faults.push(`${method} ${path} ${name} is not declared: ${status}`);
      }
    }
  }
  assert.deepEqual(faults, []);
});

/** Small pictures and the assets that are there. */
function baseOf({ path, parameters }: Operation, file: string): string {
  const isScene = parameters.includes("assets");
  return [
    ...(parameters.includes("url") ? [`url=${file}`] : []),
    ...(isScene ? ["assets=red"] : []),
    ...(parameters.includes("max_size") ? ["max_size=24"] : []),
    ...(parameters.includes("tilesize") && !path.endsWith(".json") ? ["tilesize=24"] : []),
    ...(parameters.includes("bbox") ? ["bbox=15.2,46.3,15.4,46.4"] : []),
  ].join("&");
}

/** What the OpenAPI document has of the tilers; items by an address need a catalogue. */
async function listOperations(url: string): Promise<readonly Operation[]> {
  const { paths } = (await getJson(`${url}/openapi.json`)) as unknown as {
    paths: Record<string, Record<string, { tags?: string[]; parameters?: { name: string; in: string }[] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { tags = [], parameters = [] }]) => {
      const isTiler = tags.some((tag) => ["cog", "collections", "searches"].includes(tag));
      const names = parameters.filter((each) => each.in === "query").map(({ name }) => name);
      return !isTiler || /^\/(algorithms|colorMaps)|\/(register|days)$/.test(path)
        ? []
        : [{ method: method.toUpperCase(), path, parameters: names }];
    }),
  );
}
