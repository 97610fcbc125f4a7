import { type Band, readBand } from "./band.ts";
import { ToolError } from "./errors.ts";
import { evaluate, parseExpression } from "./expression.ts";
import { checkSameGrid } from "./grid.ts";
import { EMPTY, meanOf } from "./normalized-difference.ts";
import { writeCog } from "./raster.ts";
import { readScene } from "./scene.ts";
import { writeThumbnail } from "./thumbnail.ts";
import { writeResult } from "./write-result.ts";

/** `s-expression --scene DIR --expression "ndvi:(/ (- nir red) (+ nir red))"`: any calculation with the bands of one scene. */
export async function sExpression(options: Readonly<Record<string, string>>): Promise<string> {
  const { scene: directory = "", expression: text = "" } = options;
  const { name, expression, bands: names } = parseExpression(text);
  const scene = await readScene(directory);
  const bands = new Map<string, Band>();
  for (const band of names) {
    bands.set(band, await readBand(scene, band));
  }
  const [first] = bands.values();
  if (first === undefined) {
    throw new ToolError(
      `the expression "${text}" names no band; the scene has ${Object.keys(scene.item.assets).join(", ")}`,
    );
  }
  for (const [band, { grid }] of bands) {
    checkSameGrid(first.grid, grid, `${names[0]} and ${band} of ${scene.item.id}`);
  }
  const pixels = new Map(
    [...bands].map(([band, { data, shift }]) => [band, Float64Array.from(data, (value) => value + shift)]),
  );
  const computed = evaluate(expression, pixels);
  const isEmpty = (index: number) => bands.values().some(({ mask }) => mask[index] === 0);
  const values = Float32Array.from(first.data, (_, index) => {
    const value = typeof computed === "number" ? computed : (computed[index] ?? Number.NaN);
    return isEmpty(index) || !Number.isFinite(value) ? EMPTY : value;
  });
  const id = `${scene.item.id}_${name}`;
  await writeCog(`${id}.tif`, first.grid, values, { noData: EMPTY, overviews: "average" });
  const { mean, count } = meanOf(values);
  const spread = spreadOf(values, mean, count);
  await writeThumbnail(`${id}.png`, first.grid, (index) => {
    const value = values[index] ?? EMPTY;
    const grey = Math.max(0, Math.min(255, Math.round(128 + (64 * (value - mean)) / spread)));
    return value === EMPTY ? undefined : [grey, grey, grey];
  });
  await writeResult(".", {
    id,
    like: scene.item,
    grid: first.grid,
    properties: {
      datetime: scene.item.properties["datetime"],
      title: `${name} of ${scene.item.id}`,
      "expression:text": text,
    },
    files: [
      { key: name, name: `${id}.tif`, title: text, kind: "cog", band: { data_type: "float32", nodata: EMPTY } },
      { key: "thumbnail", name: `${id}.png`, title: name, kind: "thumbnail" },
    ],
  });
  return `${scene.item.id}: mean of ${name} ${mean.toPrecision(4)} over ${count} pixels`;
}

/** Standard deviation; 1 where all values are the same. */
function spreadOf(values: Float32Array, mean: number, count: number): number {
  const squares = values.reduce((sum, value) => sum + (value === EMPTY ? 0 : (value - mean) ** 2), 0);
  return Math.sqrt(squares / Math.max(count, 1)) || 1;
}
