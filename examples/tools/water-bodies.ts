import { readBand } from "./band.ts";
import { ToolError } from "./errors.ts";
import { EMPTY, normalizedDifference } from "./normalized-difference.ts";
import { ofEachScene } from "./each-scene.ts";
import { writeCog } from "./raster.ts";
import type { Scene } from "./scene.ts";
import { ramp, writeThumbnail } from "./thumbnail.ts";
import { writeResult } from "./write-result.ts";

const NO_DATA = 255;

/** `water-bodies --scene DIR --green ASSET --nir ASSET --threshold N`: 1 where NDWI is above the threshold, 0 elsewhere. */
export async function waterBodies(options: Readonly<Record<string, string>>): Promise<string> {
  const { threshold: text = "0" } = options;
  const threshold = Number(text);
  if (Number.isNaN(threshold)) {
    throw new ToolError(`--threshold is "${text}"; a number between -1 and 1 is needed`);
  }
  return ofEachScene(options["scene"] ?? "", (scene) => waterOf(scene, threshold, options));
}

async function waterOf(scene: Scene, threshold: number, options: Readonly<Record<string, string>>) {
  const { green: greenName = "green", nir: nirName = "nir" } = options;
  const [green, nir] = [await readBand(scene, greenName), await readBand(scene, nirName)];
  const ndwi = normalizedDifference(green, nir, `${greenName} and ${nirName} of ${scene.item.id}`);
  const mask = Uint8Array.from(ndwi, (value) => (value === EMPTY ? NO_DATA : value > threshold ? 1 : 0));
  const id = `${scene.item.id}_water`;
  await writeCog(`${id}_ndwi.tif`, green.grid, ndwi, { noData: EMPTY, overviews: "average" });
  await writeCog(`${id}.tif`, green.grid, mask, { noData: NO_DATA, overviews: "nearest" });
  await writeThumbnail(`${id}.png`, green.grid, (index) =>
    mask[index] === NO_DATA
      ? undefined
      : mask[index] === 1
        ? [20, 90, 200]
        : ramp(
            [
              [-1, [60, 60, 55]],
              [0, [235, 232, 220]],
            ],
            ndwi[index] ?? 0,
          ),
  );
  const water = mask.reduce((sum, value) => sum + (value === 1 ? 1 : 0), 0);
  const area = (water * green.grid.pixel ** 2) / 1e6;
  await writeResult(".", {
    id,
    like: scene.item,
    grid: green.grid,
    properties: {
      datetime: scene.item.properties["datetime"],
      title: `Water bodies of ${scene.item.id}`,
      "water:pixels": water,
      "water:area_km2": Number(area.toFixed(3)),
      "water:threshold": threshold,
    },
    files: [
      {
        key: "water",
        name: `${id}.tif`,
        title: "Water (1) and land (0)",
        kind: "cog",
        band: { data_type: "uint8", nodata: NO_DATA },
      },
      {
        key: "ndwi",
        name: `${id}_ndwi.tif`,
        title: "Water index (NDWI)",
        kind: "cog",
        band: { data_type: "float32", nodata: EMPTY },
      },
      { key: "thumbnail", name: `${id}.png`, title: "Water bodies", kind: "thumbnail" },
    ],
  });
  return { id, said: `${scene.item.id}: ${water} pixels of water, ${area.toFixed(2)} km²` };
}
