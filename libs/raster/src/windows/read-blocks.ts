import { type Raster, type Samples, createSamples } from "../readers/raster.ts";
import type { BlockCache } from "./block-cache.ts";
import type { WindowRequest } from "./read-window.ts";
import { planTargets } from "./targets.ts";

/** Larger windows are copied row by row of blocks, so that not all of their blocks are in memory. */
const MAX_PIXELS = 8 * 1024 * 1024;

/** Blocks below a window, to pick pixels from without copying them together first. */
export interface WindowBlocks {
  /** Block columns. */
  readonly columns: number;
  /** Sides of a block are powers of two: their exponents. */
  readonly shiftX: number;
  readonly shiftY: number;
  /** Blocks of each band that was asked for, row by row. */
  readonly planes: readonly (readonly Samples[])[];
  readonly mask?: readonly Samples[];
  /** Pixel of the level that the first block begins at. */
  readonly originX: number;
  readonly originY: number;
}

/** `undefined` where the window has to be copied: sides that are no powers of two, or too much of it. */
export async function readBlocks(
  raster: Raster,
  cache: BlockCache,
  { level, x, y, width, height, bands, every = 1 }: WindowRequest,
  signal?: AbortSignal,
): Promise<WindowBlocks | undefined> {
  const { blockWidth, blockHeight } = raster.info.levels[level]!;
  const [shiftX, shiftY] = [Math.log2(blockWidth), Math.log2(blockHeight)];
  const [left, top] = [Math.floor(x / blockWidth), Math.floor(y / blockHeight)];
  const columns = Math.floor((x + width - 1) / blockWidth) - left + 1;
  const rows = Math.floor((y + height - 1) / blockHeight) - top + 1;
  if (
    every !== 1 ||
    !Number.isInteger(shiftX) ||
    !Number.isInteger(shiftY) ||
    columns * rows * blockWidth * blockHeight > MAX_PIXELS
  ) {
    return undefined;
  }
  const { targets, maskTarget, all, groups } = planTargets(raster, bands);
  const addresses = Array.from({ length: columns * rows }, (_, at) => ({
    level,
    column: left + (at % columns),
    row: top + Math.floor(at / columns),
  }));
  const found = await Promise.all(
    groups.map((group) =>
      cache.read(
        raster,
        addresses.map((address) => ({ ...address, group })),
        signal,
      ),
    ),
  );
  const blocksOf = (target: (typeof all)[number]): readonly Samples[] => {
    let empty: Samples | undefined;
    return found[groups.indexOf(target.group)]!.map(
      (block) =>
        block?.[target.index] ?? (empty ??= createSamples(target.type, blockWidth * blockHeight).fill(target.fill)),
    );
  };
  return {
    columns,
    shiftX,
    shiftY,
    planes: targets.map(blocksOf),
    ...(maskTarget && { mask: blocksOf(maskTarget) }),
    originX: left * blockWidth,
    originY: top * blockHeight,
  };
}
