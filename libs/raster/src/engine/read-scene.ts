import { invalidRequest } from "../errors.ts";
import { type Memory, OWN_MEMORY } from "../memory.ts";
import type { BandInfo } from "../readers/raster.ts";
import { type Expression, compileExpression } from "../render/expression.ts";
import type { Plane } from "../render/plane.ts";
import type { Grid } from "../warp/grid.ts";
import type { Part } from "../warp/map-parts.ts";
import { type GridBand, type GridData, placeBand, readGridPart } from "../warp/read-grid.ts";
import type { Resampling } from "../warp/resample.ts";
import type { BlockCache } from "../windows/block-cache.ts";
import type { UseRasters } from "./open-rasters.ts";
import { chooseBands } from "./choose-bands.ts";
import { type Scene, findBand } from "./scene.ts";

interface SceneRequest {
  readonly scene: Scene;
  /** Left out to learn of what type the results are, without reading. */
  readonly grid: Grid | undefined;
  /** The pixels of the grid that are looked for. */
  readonly requested: Part;
  readonly expressions: readonly string[];
  readonly resampling: Resampling;
  /** Left out: values of cubes, as the CF conventions have it, and no others. */
  readonly unscale: boolean | undefined;
  readonly memory?: Memory;
}

interface SceneResult {
  /** The pixels of the grid that the planes have; nothing of the scene is in others. */
  readonly part: Part;
  readonly planes: readonly Plane[];
  readonly infos: readonly (BandInfo & { readonly isPlain: boolean })[];
}

/** Reads the bands that expressions use, each once, and calculates. */
export async function readScene(
  request: SceneRequest,
  cache: BlockCache,
  rasters: UseRasters,
  signal?: AbortSignal,
): Promise<SceneResult> {
  const { scene, grid, requested, resampling, unscale, memory = OWN_MEMORY } = request;
  const expressions = request.expressions.map(compileExpression);
  const references = new Map(
    [...new Set(expressions.flatMap(({ variables }) => variables))].map((name) => [name, findBand(name, scene)]),
  );
  const needed = new Map<string, number[]>();
  for (const { asset, band } of references.values()) {
    needed.set(asset, [...new Set([...(needed.get(asset) ?? []), band])]);
  }
  const read = await Promise.all(
    [...needed].map(async ([key, numbers]) => {
      const asset = scene.assets[key]!;
      const data = await rasters.use(
        asset.location,
        async (raster): Promise<GridData> => {
          const chosen = chooseBands(raster.info.bands, asset);
          const own = numbers.map((band) => checkBand(chosen, band));
          const infos = own.map((band) => raster.info.bands[band]!);
          const options = {
            bands: own,
            resampling,
            memory,
            ...(asset.nodata !== undefined && { nodata: asset.nodata }),
          };
          return grid === undefined
            ? { part: NOTHING, bands: infos.map((info) => ({ info, ...noPixels() })) }
            : readGridPart(raster, cache, grid, requested, options, signal);
        },
        signal,
      );
      return { key, numbers, data };
    }),
  );
  const part = uniteParts(read.map(({ data }) => data.part));
  const bands = new Map<string, GridBand>(
    read.flatMap(({ key, numbers, data }) =>
      numbers.map((band, at) => [`${key}|${band}`, placeBand(data.bands[at]!, data.part, part, memory)] as const),
    ),
  );
  const results = expressions.map((expression) => {
    const inputs = expression.variables.map((name) => {
      const { asset, band } = references.get(name)!;
      return bands.get(`${asset}|${band}`)!;
    });
    return evaluate(expression, inputs, unscale, part.width * part.height, memory);
  });
  return { part, planes: results.map(({ plane }) => plane), infos: results.map(({ info }) => info) };
}

const NOTHING: Part = { x: 0, y: 0, width: 0, height: 0 };

const noPixels = () => ({ samples: new Uint8Array(0), mask: new Uint8Array(0) });

function uniteParts(parts: readonly Part[]): Part {
  const some = parts.filter(({ width }) => width > 0);
  if (some.length === 0) {
    return parts[0] ?? NOTHING;
  }
  const [x, y] = [Math.min(...some.map((part) => part.x)), Math.min(...some.map((part) => part.y))];
  return {
    x,
    y,
    width: Math.max(...some.map((part) => part.x + part.width)) - x,
    height: Math.max(...some.map((part) => part.y + part.height)) - y,
  };
}

function evaluate(
  expression: Expression,
  inputs: readonly GridBand[],
  unscale: boolean | undefined,
  pixels: number,
  memory: Memory,
): { plane: Plane; info: BandInfo & { isPlain: boolean } } {
  const [first] = inputs;
  const isScaled = inputs.some(({ info }) => isUnscaled(info, unscale));
  if (expression.plain !== undefined && first !== undefined && !isScaled) {
    return {
      plane: { samples: first.samples, mask: first.mask, type: first.info.type },
      info: { ...first.info, isPlain: true },
    };
  }
  const values = inputs.map(({ samples, info: { scale = 1, offset = 0 } }) =>
    isScaled ? Float32Array.from(samples, (value) => value * scale + offset) : samples,
  );
  const samples = memory.take("float32", pixels);
  expression.evaluate(values, samples);
  const mask = intersectMasks(
    inputs.map((input) => input.mask),
    memory.take("uint8", pixels),
  );
  for (let at = 0; at < pixels; at += 1) {
    if (!Number.isFinite(samples[at]!)) {
      mask[at] = 0;
    }
  }
  return {
    plane: { samples, mask, type: "float32" },
    info: { type: "float32", isComplex: false, color: "gray", isPlain: false },
  };
}

/** Packed values of a variable stand for others, which its unit is of; bands of a picture are shown as they are stored. */
export function isUnscaled({ scale = 1, offset = 0, name }: BandInfo, unscale: boolean | undefined): boolean {
  return (unscale ?? name !== undefined) && (scale !== 1 || offset !== 0);
}

/** A result is there where all that it is made from is. */
function intersectMasks(masks: readonly Uint8Array[], output: Uint8Array): Uint8Array {
  const [first] = masks;
  if (first === undefined) {
    return output.fill(255);
  }
  output.set(first);
  const pixels = output.length;
  for (const mask of masks.slice(1)) {
    if (mask !== first) {
      for (let at = 0; at < pixels; at += 1) {
        if (mask[at]! < output[at]!) {
          output[at] = mask[at]!;
        }
      }
    }
  }
  return output;
}

function checkBand(bands: readonly number[], band: number): number {
  const own = bands[band];
  if (own === undefined) {
    throw invalidRequest(`Band ${band + 1} does not exist; the raster has ${bands.length}.`);
  }
  return own;
}
