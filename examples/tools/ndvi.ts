import { cut, findWindow, footprintOf, parseBox } from "./area.ts";
import { readBand } from "./band.ts";
import { ToolError } from "./errors.ts";
import { EMPTY, meanOf, normalizedDifference } from "./normalized-difference.ts";
import { ofEachScene } from "./each-scene.ts";
import { writeCog } from "./raster.ts";
import type { Scene } from "./scene.ts";
import { type Colour, ramp, writeThumbnail } from "./thumbnail.ts";
import { type Result, writeResult } from "./write-result.ts";

const GREENS: readonly (readonly [number, Colour])[] = [
  [-0.2, [70, 110, 170]],
  [0, [215, 200, 165]],
  [0.3, [220, 215, 110]],
  [0.6, [110, 170, 60]],
  [0.9, [10, 80, 20]],
];

/**
 * `ndvi --scene DIR --red ASSET --nir ASSET [--aoi W,S,E,N]`: vegetation index of each scene, or of the part of it in an area of
 * interest, into the working directory.
 */
export async function ndvi(options: Readonly<Record<string, string>>): Promise<string> {
  return ofEachScene(options["scene"] ?? "", (scene) => ndviOf(scene, options));
}

async function ndviOf(scene: Scene, options: Readonly<Record<string, string>>) {
  const { red: redName = "red", nir: nirName = "nir", aoi } = options;
  if (redName === nirName) {
    throw new ToolError(`--red and --nir are both ${redName}; an index of one band with itself is 0 everywhere`);
  }
  const [red, nir] = [await readBand(scene, redName), await readBand(scene, nirName)];
  const whole = normalizedDifference(nir, red, `${nirName} and ${redName} of ${scene.item.id}`);
  const id = `${scene.item.id}_ndvi`;
  let [values, grid, like] = [whole, nir.grid, scene.item as Result["like"]];
  if (aoi !== undefined) {
    ({ values, grid } = cut(whole, nir.grid, findWindow(nir.grid, parseBox(aoi, "--aoi"), scene.item.id)));
    like = footprintOf(grid);
  }
  await writeCog(`${id}.tif`, grid, values, { noData: EMPTY, overviews: "average" });
  await writeThumbnail(`${id}.png`, grid, (index) => {
    const value = values[index] ?? EMPTY;
    return value === EMPTY ? undefined : ramp(GREENS, value);
  });
  const { mean, count } = meanOf(values);
  await writeResult(".", {
    id,
    like,
    grid,
    properties: {
      datetime: scene.item.properties["datetime"],
      title: `Vegetation index of ${scene.item.id}`,
      "ndvi:mean": Number(mean.toFixed(4)),
      "ndvi:pixels": count,
    },
    files: [
      {
        key: "ndvi",
        name: `${id}.tif`,
        title: "Vegetation index (NDVI)",
        kind: "cog",
        band: { data_type: "float32", nodata: EMPTY },
      },
      { key: "thumbnail", name: `${id}.png`, title: "Vegetation index", kind: "thumbnail" },
    ],
  });
  return { id, said: `${scene.item.id}: mean vegetation index ${mean.toFixed(3)} over ${count} pixels` };
}
