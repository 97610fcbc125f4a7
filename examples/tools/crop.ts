import { type Box, boundsIn, parseBox } from "./area.ts";
import { ToolError } from "./errors.ts";
import type { Grid } from "./grid.ts";
import { ofEachScene } from "./each-scene.ts";
import { readRaster, typeOf, writeCog } from "./raster.ts";
import { type Scene, assetPath } from "./scene.ts";
import { writeThumbnail } from "./thumbnail.ts";
import { writeResult } from "./write-result.ts";

const MAX_PIXELS = 100_000_000;

/**
 * `crop --scene DIR --bbox W,S,E,N --epsg CODE --resolution UNITS --offset UNITS --assets A,B,…`: the part of each scene in a box of
 * longitudes and latitudes, on a grid that is the same for every scene.
 */
export async function crop(options: Readonly<Record<string, string>>): Promise<string> {
  return ofEachScene(options["scene"] ?? "", (scene) => cropOf(scene, options));
}

async function cropOf(scene: Scene, options: Readonly<Record<string, string>>) {
  const { bbox: box = "", epsg = "", resolution = "", offset = "0", assets = "" } = options;
  const bbox = parseBox(box, "--bbox");
  const grid = planGrid(bbox, Number(epsg), { pixel: Number(resolution), offset: Number(offset) });
  const id = `${scene.item.id}_crop`;
  const keys = assets.split(",").filter((key) => key !== "");
  const files = [];
  for (const key of keys) {
    const { data, mask, noData = 0 } = await readRaster(assetPath(scene, key), undefined, grid);
    const name = `${id}_${key.replaceAll(/[^\w-]/g, "_")}.tif`;
    await writeCog(name, grid, data, { noData, overviews: "nearest", mask });
    files.push({
      key,
      name,
      title: key,
      kind: "cog",
      band: { data_type: typeOf(data), nodata: noData },
      data,
      mask,
    } as const);
  }
  const [first] = files;
  if (first === undefined) {
    throw new ToolError("--assets names no asset; name those that the mosaic needs, such as red,nir,scl");
  }
  await writeThumbnail(`${id}.png`, grid, (index) => {
    const grey = Math.min(255, (first.data[index] ?? 0) / 16);
    return first.mask[index] === 0 ? undefined : [grey, grey, grey];
  });
  const [west, south, east, north] = bbox;
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  await writeResult(".", {
    id,
    like: { bbox, geometry: { type: "Polygon", coordinates: [ring] } },
    grid,
    properties: { ...scene.item.properties, title: `${scene.item.id}, cropped` },
    files: [
      ...files.map(({ data: _data, mask: _mask, ...file }) => file),
      { key: "thumbnail", name: `${id}.png`, title: first.key, kind: "thumbnail" },
    ],
  });
  return { id, said: `${scene.item.id}: cropped to ${grid.width} x ${grid.height} pixels` };
}

/** The smallest grid around the box whose lines lie `offset` beside multiples of the resolution: scenes of any tile then fit together. */
function planGrid(
  bbox: Box,
  epsg: number,
  { pixel, offset }: { readonly pixel: number; readonly offset: number },
): Grid {
  if (!Number.isInteger(epsg) || epsg <= 0 || !(pixel > 0) || Number.isNaN(offset)) {
    throw new ToolError("--epsg needs the code of a reference system, --resolution and --offset lengths in its units");
  }
  const [minX, minY, maxX, maxY] = boundsIn(epsg, bbox);
  const below = (value: number) => Math.floor((value - offset) / pixel) * pixel + offset;
  const above = (value: number) => Math.ceil((value - offset) / pixel) * pixel + offset;
  const [left, right] = [below(minX), above(maxX)];
  const [bottom, top] = [below(minY), above(maxY)];
  const [width, height] = [Math.round((right - left) / pixel), Math.round((top - bottom) / pixel)];
  if (!(width * height <= MAX_PIXELS)) {
    throw new ToolError(
      `the box has ${width} x ${height} pixels of ${pixel}; take a smaller box or a coarser resolution`,
    );
  }
  return { width, height, west: left, north: top, pixel, epsg };
}
