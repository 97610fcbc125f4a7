import { checkCancelled } from "../errors.ts";
import { MAX_WINDOW_PIXELS } from "../limits.ts";
import type { BandInfo, Raster, Samples } from "../readers/raster.ts";
import { createSamples } from "../readers/raster.ts";
import type { BlockCache } from "../windows/block-cache.ts";
import { readWindow } from "../windows/read-window.ts";
import { createGeoreferencing } from "./georeferencing.ts";
import { type Grid, checkGrid } from "./grid.ts";
import { type PixelMap, createPixelMap } from "./pixel-map.ts";
import { type Resampling, pickNearest, resample, toNearestIndex } from "./resample.ts";

export interface ReadGridOptions {
  /** From 0. */
  readonly bands: readonly number[];
  readonly resampling?: Resampling;
  /** Reads the full image even where an overview would do. */
  readonly ignoreOverviews?: boolean;
  /** Taken instead of what the file says. */
  readonly nodata?: number;
}

/** One band on a grid. */
export interface GridBand {
  readonly info: BandInfo;
  readonly samples: Samples;
  /** 0 where there is nothing, 255 where there is, between for half-transparent pixels. Bands may share it. */
  readonly mask: Uint8Array;
}

export interface GridData {
  readonly width: number;
  readonly height: number;
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
  checkGrid(grid);
  const { info } = raster;
  const { bands, resampling = "nearest" } = options;
  const source = createGeoreferencing(info);
  const map = createPixelMap(grid, source, westernmostOf(info.transform, info.width));
  const level = options.ignoreOverviews === true ? 0 : chooseLevel(info, map);
  const window = chooseWindow(info, level, map, bands.length, resampling);
  const infos = bands.map((band) => ({
    ...info.bands[band]!,
    ...(options.nodata !== undefined && { nodata: options.nodata }),
  }));
  if (window === undefined) {
    return createEmpty(grid, infos);
  }
  const { planes, mask, width, height } = await readWindow(raster, cache, { level, bands, ...window }, signal);
  checkCancelled(signal);
  const target = toTarget(map, info, level, window);
  const index = toNearestIndex(target, width, height);
  const shared = toSharedMask(mask, index);
  const output = infos.map((band, at): GridBand => {
    const plane = planes[at]!;
    if (resampling === "nearest") {
      const samples = pickNearest(plane, index, band.type);
      return { info: band, samples, mask: withNodata(shared, samples, band) };
    }
    const valid = toValid(plane, mask, band);
    const samples = resample(
      { width, height, type: band.type, samples: plane, ...(valid && { valid }) },
      target,
      index,
      resampling,
    );
    return { info: band, samples, mask: valid === undefined ? shared : maskBy(shared, valid, index) };
  });
  return { width: grid.width, height: grid.height, bands: output };
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
  { bounds, scaleX, scaleY }: PixelMap,
  bands: number,
  resampling: Resampling,
): ChosenWindow | undefined {
  const layout = info.levels[level];
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

/** From pixels of the full image to pixels of the window; in place, the map is not used again. */
function toTarget(
  { columns, rows, scaleX, scaleY }: PixelMap,
  info: Raster["info"],
  level: number,
  { x, y, every }: ChosenWindow,
) {
  const layout = info.levels[level]!;
  const [ratioX, ratioY] = [layout.width / info.width, layout.height / info.height];
  if (level !== 0 || x !== 0 || y !== 0 || every !== 1) {
    for (let at = 0; at < columns.length; at += 1) {
      columns[at] = (columns[at]! * ratioX - x) / every;
      rows[at] = (rows[at]! * ratioY - y) / every;
    }
  }
  return { columns, rows, scaleX: (scaleX * ratioX) / every, scaleY: (scaleY * ratioY) / every };
}

/** Rasters in degrees may begin anywhere; target points are looked for from there on. */
function westernmostOf(transform: Raster["info"]["transform"], width: number): number | undefined {
  if (transform === undefined || transform[1] !== 0) {
    return undefined;
  }
  const west = transform[0] > 0 ? transform[2] : transform[2] + transform[0] * width;
  // Half of what is not covered lies on each side.
  const covered = Math.abs(transform[0]) * width;
  return covered >= 360 ? west : west - (360 - covered) / 2;
}

function toSharedMask(mask: Samples | undefined, index: Int32Array): Uint8Array {
  const output = new Uint8Array(index.length);
  const full = mask instanceof Uint16Array ? 65_535 : 255;
  // Masks hold 0 and 1 or 0 and 255, alpha anything between.
  const isBinary = mask !== undefined && !mask.some((value) => value > 1);
  for (let at = 0; at < index.length; at += 1) {
    const from = index[at]!;
    if (from >= 0) {
      output[at] = mask === undefined ? 255 : isBinary ? mask[from]! * 255 : Math.ceil((mask[from]! * 255) / full);
    }
  }
  return output;
}

/** Returns the mask itself where the band has no nodata. */
function withNodata(mask: Uint8Array, samples: Samples, { nodata, type }: BandInfo): Uint8Array {
  const isFloat = type === "float32" || type === "float64";
  if (nodata === undefined && !isFloat) {
    return mask;
  }
  const missing = type === "float32" && nodata !== undefined ? Math.fround(nodata) : nodata;
  const output = mask.slice();
  for (let at = 0; at < output.length; at += 1) {
    const value = samples[at]!;
    if (value === missing || Number.isNaN(value)) {
      output[at] = 0;
    }
  }
  return output;
}

/** Which source pixels count; `undefined` when all do. */
function toValid(plane: Samples, mask: Samples | undefined, { nodata, type }: BandInfo): Uint8Array | undefined {
  const isFloat = type === "float32" || type === "float64";
  if (mask === undefined && nodata === undefined && !isFloat) {
    return undefined;
  }
  const missing = type === "float32" && nodata !== undefined ? Math.fround(nodata) : nodata;
  const valid = new Uint8Array(plane.length);
  let all = true;
  for (let at = 0; at < plane.length; at += 1) {
    const value = plane[at]!;
    const isValid = value !== missing && !Number.isNaN(value) && (mask === undefined || mask[at] !== 0);
    valid[at] = isValid ? 1 : 0;
    all &&= isValid;
  }
  return all ? undefined : valid;
}

function maskBy(mask: Uint8Array, valid: Uint8Array, index: Int32Array): Uint8Array {
  const output = mask.slice();
  for (let at = 0; at < output.length; at += 1) {
    const from = index[at]!;
    if (from >= 0 && valid[from] === 0) {
      output[at] = 0;
    }
  }
  return output;
}

function createEmpty({ width, height }: Grid, infos: readonly BandInfo[]): GridData {
  const mask = new Uint8Array(width * height);
  return {
    width,
    height,
    bands: infos.map((info) => ({ info, samples: createSamples(info.type, width * height), mask })),
  };
}
