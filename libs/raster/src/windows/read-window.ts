import { RasterError, checkCancelled, invalidRequest } from "../errors.ts";
import { MAX_WINDOW_PIXELS } from "../limits.ts";
import { type Memory, OWN_MEMORY } from "../memory.ts";
import type { BlockAddress, Raster, Samples } from "../readers/raster.ts";
import type { BlockCache } from "./block-cache.ts";
import { planTargets } from "./targets.ts";

export interface WindowRequest {
  readonly level: number;
  /** Pixels of the level; within it. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** From 0. */
  readonly bands: readonly number[];
  /** Takes every n-th pixel: for files without overviews. 1 when left out. */
  readonly every?: number;
  readonly memory?: Memory;
}

export interface Window {
  readonly width: number;
  readonly height: number;
  /** In the order of the bands that were asked for. */
  readonly planes: readonly Samples[];
  /** 0 where the file's mask or alpha says that there is nothing; left out when neither is there. */
  readonly mask?: Samples;
}

/** Reads a part of one level, block row by block row, so that little more than the window is in memory. */
export async function readWindow(
  raster: Raster,
  cache: BlockCache,
  request: WindowRequest,
  signal?: AbortSignal,
): Promise<Window> {
  const { info } = raster;
  const { level, x, y, width, height, bands, every = 1, memory = OWN_MEMORY } = request;
  const layout = info.levels[level];
  if (layout === undefined || x < 0 || y < 0 || x + width > layout.width || y + height > layout.height) {
    throw invalidRequest("The window is not inside of the raster.");
  }
  const unknown = bands.find((band) => info.bands[band] === undefined);
  if (unknown !== undefined) {
    throw invalidRequest(`Band ${unknown + 1} does not exist; the raster has ${info.bands.length}.`);
  }
  const [outWidth, outHeight] = [Math.ceil(width / every), Math.ceil(height / every)];
  if (outWidth * outHeight * Math.max(1, bands.length) > MAX_WINDOW_PIXELS) {
    throw new RasterError(
      "too-large",
      "The request reads more pixels than allowed; ask for a smaller area or a lower resolution.",
    );
  }
  const { targets, maskTarget, all, groups: neededGroups } = planTargets(raster, bands);
  const outputs = all.map(({ type }) => memory.take(type, outWidth * outHeight));
  const [firstColumn, lastColumn] = [
    Math.floor(x / layout.blockWidth),
    Math.floor((x + width - 1) / layout.blockWidth),
  ];
  for (
    let row = Math.floor(y / layout.blockHeight);
    row <= Math.floor((y + height - 1) / layout.blockHeight);
    row += 1
  ) {
    checkCancelled(signal);
    const addresses: BlockAddress[] = [];
    for (let column = firstColumn; column <= lastColumn; column += 1) {
      addresses.push(...neededGroups.map((group) => ({ level, group, column, row })));
    }
    const blocks = await cache.read(raster, addresses, signal);
    for (const [at, { group, column }] of addresses.entries()) {
      const block = blocks[at];
      for (const [index, target] of all.entries()) {
        if (target.group === group) {
          copyBlock(
            block?.[target.index],
            target.fill,
            { column, row, blockWidth: layout.blockWidth, blockHeight: layout.blockHeight },
            outputs[index]!,
            {
              x,
              y,
              width,
              height,
              every,
              outWidth,
            },
          );
        }
      }
    }
  }
  return {
    width: outWidth,
    height: outHeight,
    planes: outputs.slice(0, targets.length),
    ...(maskTarget && { mask: outputs.at(-1)! }),
  };
}

function copyBlock(
  source: Samples | undefined,
  fill: number,
  { column, row, blockWidth, blockHeight }: { column: number; row: number; blockWidth: number; blockHeight: number },
  target: Samples,
  {
    x,
    y,
    width,
    height,
    every,
    outWidth,
  }: { x: number; y: number; width: number; height: number; every: number; outWidth: number },
): void {
  const [left, top] = [column * blockWidth, row * blockHeight];
  // First pixel of the window in this block that is taken.
  const toFirst = (edge: number, start: number) =>
    edge <= start ? start : start + Math.ceil((edge - start) / every) * every;
  const [right, bottom] = [Math.min(left + blockWidth, x + width), Math.min(top + blockHeight, y + height)];
  const firstX = toFirst(left, x);
  for (let sy = toFirst(top, y); sy < bottom; sy += every) {
    const out = ((sy - y) / every) * outWidth;
    if (source === undefined) {
      target.fill(fill, out + Math.floor((firstX - x) / every), out + Math.ceil((right - x) / every));
    } else if (every === 1) {
      const from = (sy - top) * blockWidth - left;
      target.set(source.subarray(from + firstX, from + right), out + firstX - x);
    } else {
      for (let sx = firstX; sx < right; sx += every) {
        target[out + (sx - x) / every] = source[(sy - top) * blockWidth + sx - left]!;
      }
    }
  }
}
