import { checkCancelled } from "../errors.ts";
import { MAX_WINDOW_PIXELS } from "../limits.ts";
import { type Memory, OWN_MEMORY } from "../memory.ts";
import type { BandInfo, Raster, Samples } from "../readers/raster.ts";
import type { BlockCache } from "../windows/block-cache.ts";
import { readBlocks } from "../windows/read-blocks.ts";
import { readWindow } from "../windows/read-window.ts";
import { createGeoreferencing } from "./georeferencing.ts";
import { type Grid, checkGrid } from "./grid.ts";
import { type Part, type PixelMap, toNearestIndex } from "./map-parts.ts";
import { maskMissing, missingOf, pickSamples } from "./pick-samples.ts";
import { createPixelMap } from "./pixel-map.ts";
import { type Resampling, resample } from "./resample.ts";

export interface ReadGridOptions {
  /** From 0. */
  readonly bands: readonly number[];
  readonly resampling?: Resampling;
  /** Reads the full image even where an overview would do. */
  readonly ignoreOverviews?: boolean;
  /** Taken instead of what the file says. */
  readonly nodata?: number;
  /** What bands are kept in. */
  readonly memory?: Memory;
}

/** One band on a grid. */
export interface GridBand {
  readonly info: BandInfo;
  readonly samples: Samples;
  /** 0 where there is nothing, 255 where there is, between for half-transparent pixels. Bands may share it. */
  readonly mask: Uint8Array;
}

export interface GridData {
  /** The pixels of the grid that are given; nothing of the raster is in the others. */
  readonly part: Part;
  readonly bands: readonly GridBand[];
}

/** Kernels reach this many source pixels around a point. */
const MARGIN = 3;

/** Reads bands of a raster onto a grid: finds the window and the overview, reads, warps. Nothing is read where they do not meet. */
export async function readGrid(
  raster: Raster,
  cache: BlockCache,
  grid: Grid,
  options: ReadGridOptions,
  signal?: AbortSignal,
): Promise<GridData> {
  const whole = wholeOf(grid);
  const { part, bands } = await readGridPart(raster, cache, grid, whole, options, signal);
  return { part: whole, bands: bands.map((band) => placeBand(band, part, whole, options.memory)) };
}

/** As `readGrid`, but gives no more of a part of the grid than what is in the raster. */
export async function readGridPart(
  raster: Raster,
  cache: BlockCache,
  grid: Grid,
  requested: Part,
  options: ReadGridOptions,
  signal?: AbortSignal,
): Promise<GridData> {
  checkGrid(grid);
  const { info } = raster;
  const { bands, resampling = "nearest", memory = OWN_MEMORY } = options;
  const source = createGeoreferencing(info);
  const map = createPixelMap(grid, source, westernmostOf(info.transform, info.width));
  const level = options.ignoreOverviews === true ? 0 : chooseLevel(info, map);
  const centres = map.findPart(requested, info);
  const part = centres && (resampling === "average" ? widenPart(centres, requested) : centres);
  const window = part && chooseWindow(info, level, map, part, bands.length, resampling);
  const infos = bands.map((band) => ({
    ...info.bands[band]!,
    ...(options.nodata !== undefined && { nodata: options.nodata }),
  }));
  if (part === undefined || window === undefined) {
    const none = { x: requested.x, y: requested.y, width: 0, height: 0 };
    return { part: none, bands: infos.map((each) => createEmptyBand(each, 0, memory)) };
  }
  const layout = info.levels[level]!;
  const ratios = { ratioX: layout.width / info.width, ratioY: layout.height / info.height };
  if (resampling === "nearest") {
    const blocks = await readBlocks(raster, cache, { level, bands, ...window }, signal);
    if (blocks !== undefined) {
      checkCancelled(signal);
      const { originX, originY } = blocks;
      const [limitX, limitY] = [layout.width - originX, layout.height - originY];
      const index = map.toIndex(
        part,
        { ...ratios, originX, originY, every: 1 },
        {
          width: Math.min(limitX, blocks.columns << blocks.shiftX),
          height: Math.min(limitY, (blocks.planes[0]!.length / blocks.columns) << blocks.shiftY),
          columns: blocks.columns,
          shiftX: blocks.shiftX,
          shiftY: blocks.shiftY,
        },
      );
      const shift = blocks.shiftX + blocks.shiftY;
      const shared = toSharedMask(blocks.mask, index, shift, memory);
      return { part, bands: infos.map((band, at) => pickBand(blocks.planes[at]!, index, shift, band, shared, memory)) };
    }
  }
  const { planes, mask, width, height } = await readWindow(raster, cache, { level, bands, ...window, memory }, signal);
  checkCancelled(signal);
  const transform = { ...ratios, originX: window.x, originY: window.y, every: window.every };
  if (resampling === "nearest") {
    const { columns, rows } = map.toPoints(part, transform, memory);
    const index = toNearestIndex(columns, rows, width, height);
    const shared = toSharedMask(mask && [mask], index, ONE_BLOCK, memory);
    return { part, bands: infos.map((band, at) => pickBand([planes[at]!], index, ONE_BLOCK, band, shared, memory)) };
  }
  const target = {
    ...map.toPoints(part, transform, memory),
    scaleX: (map.scaleX * transform.ratioX) / window.every,
    scaleY: (map.scaleY * transform.ratioY) / window.every,
  };
  const index = toNearestIndex(target.columns, target.rows, width, height);
  const shared = toSharedMask(mask && [mask], index, ONE_BLOCK, memory);
  const output = infos.map((band, at): GridBand => {
    const plane = planes[at]!;
    const valid = toValid(plane, mask, band, memory);
    const covered = resampling === "average" ? memory.take("uint8", index.length) : undefined;
    const samples = resample(
      { width, height, type: band.type, samples: plane, ...(valid && { valid }) },
      target,
      index,
      resampling,
      { ...(covered && { covered }), memory },
    );
    const own = valid === undefined ? shared : maskBy(shared, valid, index, memory);
    return { info: band, samples, mask: covered === undefined ? own : coverMask(own, covered) };
  });
  return { part, bands: output };
}

/** A window that is one block: no pixel of it has a number of as many bits. */
const ONE_BLOCK = 31;

export const wholeOf = ({ width, height }: Pick<Grid, "width" | "height">): Part => ({ x: 0, y: 0, width, height });

/** A band of a part as one of another part around it. */
export function placeBand(band: GridBand, from: Part, to: Part, memory: Memory = OWN_MEMORY): GridBand {
  if (from.x === to.x && from.y === to.y && from.width === to.width && from.height === to.height) {
    return band;
  }
  const output = createEmptyBand(band.info, to.width * to.height, memory);
  for (let row = 0; row < from.height; row += 1) {
    const start = row * from.width;
    const at = (from.y - to.y + row) * to.width + from.x - to.x;
    output.samples.set(band.samples.subarray(start, start + from.width), at);
    output.mask.set(band.mask.subarray(start, start + from.width), at);
  }
  return output;
}

/** The smallest level that still has a pixel for each target pixel. */
function chooseLevel({ levels, width, height }: Raster["info"], { scaleX, scaleY }: PixelMap): number {
  let chosen = 0;
  for (const [index, level] of levels.entries()) {
    const reduction = Math.max(width / level.width, height / level.height);
    if (reduction <= Math.min(scaleX, scaleY) * 1.01) {
      chosen = index;
    }
  }
  return chosen;
}

interface ChosenWindow {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly every: number;
}

function chooseWindow(
  info: Raster["info"],
  level: number,
  { boundsOf, scaleX, scaleY }: PixelMap,
  part: Part,
  bands: number,
  resampling: Resampling,
): ChosenWindow | undefined {
  const layout = info.levels[level];
  const bounds = boundsOf(part);
  if (bounds === undefined || layout === undefined) {
    return undefined;
  }
  const [ratioX, ratioY] = [layout.width / info.width, layout.height / info.height];
  const margin = resampling === "nearest" ? 0 : MARGIN;
  const [marginX, marginY] = [
    Math.ceil(margin * Math.max(1, scaleX * ratioX)),
    Math.ceil(margin * Math.max(1, scaleY * ratioY)),
  ];
  const clamp = (value: number, limit: number) => Math.max(0, Math.min(limit, value));
  const left = clamp(Math.floor(bounds.minColumn * ratioX) - marginX, layout.width);
  const right = clamp(Math.floor(bounds.maxColumn * ratioX) + 1 + marginX, layout.width);
  const top = clamp(Math.floor(bounds.minRow * ratioY) - marginY, layout.height);
  const bottom = clamp(Math.floor(bounds.maxRow * ratioY) + 1 + marginY, layout.height);
  const [width, height] = [right - left, bottom - top];
  if (
    width <= 0 ||
    height <= 0 ||
    bounds.maxColumn < 0 ||
    bounds.maxRow < 0 ||
    bounds.minColumn >= info.width ||
    bounds.minRow >= info.height
  ) {
    return undefined;
  }
  const pixels = width * height * Math.max(1, bands);
  // Without an overview that is small enough, pixels are left out rather than kept in memory.
  const every = pixels <= MAX_WINDOW_PIXELS ? 1 : Math.ceil(Math.sqrt(pixels / MAX_WINDOW_PIXELS));
  return { x: left, y: top, width, height, every };
}

/** Rasters in degrees may begin anywhere; target points are looked for from there on. `undefined` where degrees run aslant. */
export function westernmostOf(transform: Raster["info"]["transform"], width: number): number | undefined {
  if (transform === undefined || transform[1] !== 0) {
    return undefined;
  }
  const west = transform[0] > 0 ? transform[2] : transform[2] + transform[0] * width;
  // Half of what is not covered lies on each side.
  const covered = Math.abs(transform[0]) * width;
  return covered >= 360 ? west : west - (360 - covered) / 2;
}

function toSharedMask(
  mask: readonly Samples[] | undefined,
  index: Int32Array,
  shift: number,
  memory: Memory,
): Uint8Array {
  const output = memory.take("uint8", index.length);
  if (mask === undefined) {
    for (let at = 0; at < index.length; at += 1) {
      // The sign's bit spread over all: 255 where there is a pixel, 0 for -1.
      output[at] = ~(index[at]! >> 31);
    }
    return output;
  }
  const full = mask[0] instanceof Uint16Array ? 65_535 : 255;
  const within = 2 ** shift - 1;
  for (let at = 0; at < index.length; at += 1) {
    const from = index[at]!;
    if (from >= 0) {
      const value = mask[from >> shift]![from & within]!;
      // As GDAL makes 8 bits of 16: what is not quite transparent stays so.
      output[at] = value === 0 ? 0 : Math.max(1, Math.floor((value * 255) / full));
    }
  }
  return output;
}

/** The nearest samples, from blocks of 2^shift pixels. Bands that have all of their pixels share the mask. */
function pickBand(
  blocks: readonly Samples[],
  index: Int32Array,
  shift: number,
  info: BandInfo,
  shared: Uint8Array,
  memory: Memory,
): GridBand {
  const { samples, hasMissing } = pickSamples(blocks, index, shift, info, memory);
  return { info, samples, mask: hasMissing ? maskMissing(shared, samples, info, memory) : shared };
}

/** Which source pixels count; `undefined` when all do. */
function toValid(plane: Samples, mask: Samples | undefined, info: BandInfo, memory: Memory): Uint8Array | undefined {
  const { nodata, type } = info;
  const isFloat = type === "float32" || type === "float64";
  if (mask === undefined && nodata === undefined && !isFloat) {
    return undefined;
  }
  const missing = missingOf(info);
  const valid = memory.take("uint8", plane.length);
  let all = true;
  for (let at = 0; at < plane.length; at += 1) {
    const value = plane[at]!;
    const isValid = value !== missing && !Number.isNaN(value) && (mask === undefined || mask[at] !== 0);
    valid[at] = isValid ? 1 : 0;
    all &&= isValid;
  }
  return all ? undefined : valid;
}

function maskBy(mask: Uint8Array, valid: Uint8Array, index: Int32Array, memory: Memory): Uint8Array {
  const output = memory.take("uint8", mask.length);
  output.set(mask);
  for (let at = 0; at < output.length; at += 1) {
    const from = index[at]!;
    if (from >= 0 && valid[from] === 0) {
      output[at] = 0;
    }
  }
  return output;
}

/** With the pixels around it, whose centres are outside of the raster and which may cover a part of it all the same. */
function widenPart(part: Part, within: Part): Part {
  const [x, y] = [Math.max(within.x, part.x - 1), Math.max(within.y, part.y - 1)];
  return {
    x,
    y,
    width: Math.min(within.x + within.width, part.x + part.width + 1) - x,
    height: Math.min(within.y + within.height, part.y + part.height + 1) - y,
  };
}

/** Whole where the source's own pixel is not there, but others that the target pixel covers are. */
function coverMask(mask: Uint8Array, covered: Uint8Array): Uint8Array {
  return mask.map((value, at) => (covered[at] === 0 ? 0 : value === 0 ? 255 : value));
}

function createEmptyBand(info: BandInfo, pixels: number, memory: Memory): GridBand {
  return { info, samples: memory.take(info.type, pixels), mask: memory.take("uint8", pixels) };
}
