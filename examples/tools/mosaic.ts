import { type Band, readBand } from "./band.ts";
import { ToolError } from "./errors.ts";
import { type Grid, checkSameGrid } from "./grid.ts";
import { writeCog } from "./raster.ts";
import { type Scene, readScenes } from "./scene.ts";
import { writeThumbnail } from "./thumbnail.ts";
import { writeResult } from "./write-result.ts";

/** Classes of the Sentinel-2 scene classification that show the ground: vegetation, bare, water, unclassified, snow. */
const CLEAR = new Set([4, 5, 6, 7, 11]);
const EMPTY = 0;

interface Layer {
  readonly scene: Scene;
  readonly bands: readonly Band[];
  readonly classes: Band;
}

/**
 * `mosaic --bands A,B --classes ASSET --scene DIR --scene DIR …`: each pixel from the least cloudy scene in which it is clear.
 * The scenes must be on one grid, as `crop` leaves them.
 */
export async function mosaic(
  options: Readonly<Record<string, string>>,
  directories: readonly string[],
): Promise<string> {
  const names = (options["bands"] ?? "").split(",").filter((name) => name !== "");
  const layers = await readLayers(directories, names, options["classes"] ?? "scl");
  const [first] = layers;
  if (first === undefined || names.length === 0) {
    throw new ToolError("a mosaic needs --bands and at least one --scene");
  }
  const { grid } = first.classes;
  const source = chooseSources(layers, grid);
  const results = names.map((_, band) =>
    Uint16Array.from(source, (layer, index) =>
      layer === 0 ? EMPTY : (layers[layer - 1]?.bands[band]?.data[index] ?? EMPTY),
    ),
  );
  const id = "mosaic";
  for (const [band, name] of names.entries()) {
    const values = results[band] ?? new Uint16Array();
    await writeCog(`${id}_${name}.tif`, grid, values, { noData: EMPTY, overviews: "average" });
  }
  await writeCog(`${id}_source.tif`, grid, source, { noData: EMPTY, overviews: "nearest" });
  const [red, nir] = [results[0], results[1] ?? results[0]];
  await writeThumbnail(`${id}.png`, grid, (index) => {
    const [low, high] = [(red?.[index] ?? 0) / 12, (nir?.[index] ?? 0) / 20];
    return source[index] === 0 ? undefined : [Math.min(255, high), Math.min(255, low), Math.min(255, low)];
  });
  const filled = source.reduce((sum, layer) => sum + (layer === 0 ? 0 : 1), 0);
  const dates = layers.map(({ scene }) => String(scene.item.properties["datetime"])).toSorted();
  await writeResult(".", {
    id,
    like: first.scene.item,
    grid,
    properties: {
      datetime: dates[0],
      start_datetime: dates[0],
      end_datetime: dates.at(-1),
      title: `Cloud-free mosaic of ${layers.length} scenes`,
      "mosaic:scenes": layers.map(({ scene }) => scene.item.id),
      "mosaic:filled": Number((filled / source.length).toFixed(4)),
    },
    files: [
      ...names.map(
        (name) =>
          ({
            key: name,
            name: `${id}_${name}.tif`,
            title: name,
            kind: "cog",
            band: { data_type: "uint16", nodata: EMPTY },
          }) as const,
      ),
      {
        key: "source",
        name: `${id}_source.tif`,
        title: "Number of the scene that a pixel is from",
        kind: "cog",
        band: { data_type: "uint8", nodata: 0 },
      },
      { key: "thumbnail", name: `${id}.png`, title: "Near infrared, red, red", kind: "thumbnail" },
    ],
  });
  return `${layers.length} scenes, ${((100 * filled) / source.length).toFixed(1)} % of the pixels are clear in one of them`;
}

/** Least cloudy first. */
async function readLayers(
  directories: readonly string[],
  names: readonly string[],
  classes: string,
): Promise<readonly Layer[]> {
  const scenes = (await Promise.all(directories.map(readScenes))).flat();
  const cover = ({ item }: Scene) => Number(item.properties["eo:cloud_cover"] ?? 100);
  const layers: Layer[] = [];
  for (const scene of scenes.toSorted((left, right) => cover(left) - cover(right))) {
    const bands: Band[] = [];
    for (const name of names) {
      bands.push(await readBand(scene, name));
    }
    layers.push({ scene, bands, classes: await readBand(scene, classes) });
  }
  if (layers.length > 255) {
    throw new ToolError(`${layers.length} scenes are too many for one mosaic; 255 fit`);
  }
  return layers;
}

/** For each pixel the number of its scene, from 1; 0 where it is clear in none. */
function chooseSources(layers: readonly Layer[], grid: Grid): Uint8Array {
  const source = new Uint8Array(grid.width * grid.height);
  for (const [number, { scene, bands, classes }] of layers.entries()) {
    for (const band of [classes, ...bands]) {
      checkSameGrid(grid, band.grid, `${scene.item.id} and the first scene`);
    }
    for (let index = 0; index < source.length; index += 1) {
      const isClear = CLEAR.has(classes.data[index] ?? 0) && bands.every((band) => band.mask[index] !== 0);
      if (source[index] === 0 && isClear) {
        source[index] = number + 1;
      }
    }
  }
  return source;
}
