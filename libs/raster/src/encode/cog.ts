import { checkCancelled } from "../errors.ts";
import { type BandInfo, type SampleType, type Samples, bytesOf, createSamples } from "../readers/raster.ts";
import { isFull } from "../render/masks.ts";
import type { Plane } from "../render/plane.ts";
import type { Grid } from "../warp/grid.ts";
import { encodeLayout, framedBytes, frameTile, placeTiles } from "./cog-layout.ts";
import { TILE, compressMask, compressTiles } from "./cog-tiles.ts";
import { type Overviews, halvePlanes } from "./halve.ts";
import { type TagValue, encodeDirectory, toGeoTags, toMaskTags, toSampleTags, writePointer } from "./tiff-directory.ts";

/** Offsets of plain TIFF have 32 bits; beyond this the file is a BigTIFF. */
const MAX_CLASSIC_BYTES = 2 ** 32 - 2 ** 26;

export interface CogOptions {
  readonly type: SampleType;
  /** Written where there is nothing. */
  readonly nodata?: number;
  /** A mask marks the pixels that are missing in some band; it is left out where none is. */
  readonly hasMask?: boolean;
  readonly bands: readonly (Pick<BandInfo, "scale" | "offset" | "unit" | "description"> &
    Partial<Pick<BandInfo, "color">>)[];
  readonly isRgb?: boolean;
  /** `nearest`, for classes as well, when left out; `average` for measurements. */
  readonly overviews?: Overviews;
}

/** Pixels of some rows of a grid, as many planes as bands. */
export type ReadRows = (firstRow: number, rows: number) => Promise<readonly Plane[]>;

/**
 * Writes a cloud-optimised GeoTIFF: tiles of 512 pixels, deflate with a predictor, overviews by halves, directories first and the
 * pixels of the smallest overview before those of larger ones. Reads the grid by rows of tiles, so that only compressed tiles are
 * kept as a whole. Yields the file in order.
 */
export async function* encodeCog(
  grid: Grid,
  readRows: ReadRows,
  options: CogOptions,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const levels = createLevels(grid, options);
  const read = (row: number) => {
    const reading = readRows(row, Math.min(TILE, grid.height - row));
    // Nobody waits for it when compressing the rows before it fails.
    reading.catch(() => undefined);
    return reading;
  };
  let isMasked = false;
  // The next rows are read while these are compressed, which other threads do.
  let next = read(0);
  for (let row = 0; row < grid.height; row += TILE) {
    checkCancelled(signal);
    const planes = await next;
    if (row + TILE < grid.height) {
      next = read(row + TILE);
    }
    const mask = options.hasMask === true ? intersectMasks(planes) : undefined;
    await addRows(
      levels,
      0,
      [...planes.map((plane) => fillMasked(plane, options)), ...(mask === undefined ? [] : [mask])],
      Math.min(TILE, grid.height - row),
      options,
    );
    isMasked ||= mask !== undefined && !isFull(mask);
  }
  if (!isMasked) {
    for (const level of levels) {
      level.maskTiles.length = 0;
    }
  }
  const stored = levels.reduce(
    (sum, level) => sum + tilesOf(level).reduce((bytes, tile) => bytes + framedBytes(tile), 0),
    0,
  );
  const isBig = stored > MAX_CLASSIC_BYTES;
  const head = encodeHead(grid, levels, options, isBig);
  yield head;
  for (const level of levels.toReversed()) {
    for (const tile of tilesOf(level)) {
      yield frameTile(tile);
    }
  }
}

interface Level {
  readonly width: number;
  readonly height: number;
  readonly bands: number;
  readonly tiles: Uint8Array[];
  /** Empty where there is no mask. */
  readonly maskTiles: Uint8Array[];
  /** Rows that wait for enough of them for a row of tiles, one array a band; the last one is the mask where there is one. */
  readonly pending: Samples[];
  pendingRows: number;
  finishedRows: number;
}

function createLevels({ width, height }: Grid, { bands, type, hasMask = false }: CogOptions): Level[] {
  const levels: Level[] = [];
  for (let [w, h] = [width, height]; ; [w, h] = [Math.ceil(w / 2), Math.ceil(h / 2)]) {
    levels.push({
      width: w,
      height: h,
      tiles: [],
      maskTiles: [],
      bands: bands.length,
      pending: [...bands.map(() => createSamples(type, w * TILE)), ...(hasMask ? [new Uint8Array(w * TILE)] : [])],
      pendingRows: 0,
      finishedRows: 0,
    });
    if (Math.max(w, h) <= TILE) {
      return levels;
    }
  }
}

async function addRows(
  levels: readonly Level[],
  index: number,
  planes: readonly Samples[],
  rows: number,
  options: CogOptions,
): Promise<void> {
  const level = levels[index];
  if (level === undefined) {
    return;
  }
  const { width, height } = level;
  for (let done = 0; done < rows;) {
    const taken = Math.min(rows - done, TILE - level.pendingRows);
    for (const [band, plane] of planes.entries()) {
      level.pending[band]?.set(plane.subarray(done * width, (done + taken) * width), level.pendingRows * width);
    }
    level.pendingRows += taken;
    done += taken;
    if (level.pendingRows === TILE || level.finishedRows + level.pendingRows === height) {
      const complete = level.pending.map((plane) => plane.subarray(0, level.pendingRows * width));
      const bands = complete.slice(0, level.bands);
      level.tiles.push(...(await compressTiles(bands, width, level.pendingRows)));
      const mask = complete[level.bands];
      if (mask instanceof Uint8Array) {
        level.maskTiles.push(...(await compressMask(mask, width, level.pendingRows)));
      }
      const halves = halvePlanes(bands, mask instanceof Uint8Array ? mask : undefined, {
        ...options,
        width,
        rows: level.pendingRows,
      });
      const halfRows = Math.ceil(level.pendingRows / 2);
      level.finishedRows += level.pendingRows;
      level.pendingRows = 0;
      await addRows(levels, index + 1, halves, halfRows, options);
    }
  }
}

/** In the order in which they are written. */
const tilesOf = ({ tiles, maskTiles }: Level): readonly Uint8Array[] => [...tiles, ...maskTiles];

/** 255 where all bands have a pixel: the mask is one for all, and says nothing wrong of any. */
function intersectMasks(planes: readonly Plane[]): Uint8Array {
  const masks = [...new Set(planes.map(({ mask }) => mask))];
  return Uint8Array.from(masks[0] ?? [], (_, at) => (masks.every((mask) => mask[at] !== 0) ? 255 : 0));
}

function fillMasked({ samples, mask, type: own }: Plane, { nodata, type }: CogOptions): Samples {
  if (nodata === undefined && own === type) {
    return samples;
  }
  const output = createSamples(type, samples.length);
  for (let at = 0; at < output.length; at += 1) {
    output[at] = nodata !== undefined && mask[at] === 0 ? nodata : samples[at]!;
  }
  return output;
}

/** Header and directories; their size does not depend on the offsets in them, so they are laid out twice. */
function encodeHead(grid: Grid, levels: readonly Level[], options: CogOptions, isBig: boolean): Buffer {
  const layOut = (dataStart: number): Buffer => {
    const offsets = toOffsets(levels, dataStart);
    const header = Buffer.alloc(isBig ? 16 : 8);
    const layout = encodeLayout();
    header.write("II", 0, "latin1");
    header.writeUInt16LE(isBig ? 43 : 42, 2);
    if (isBig) {
      header.writeUInt16LE(8, 4);
    }
    let at = header.length + layout.length;
    writePointer(header, isBig ? 8 : 4, at, isBig);
    const parts: Buffer[] = [header, layout];
    const directories = levels.flatMap((level, index) => {
      const { tiles, maskTiles } = offsets[index]!;
      return [
        toTags(grid, level, index, tiles, options, isBig),
        ...(maskTiles.length === 0 ? [] : [toMaskTags(level, index, maskTiles, level.maskTiles, isBig)]),
      ];
    });
    for (const [index, tags] of directories.entries()) {
      const size = encodeDirectory(tags, at, 0, isBig).length;
      const padded = Math.ceil(size / 8) * 8;
      const directory = Buffer.alloc(padded);
      encodeDirectory(tags, at, index === directories.length - 1 ? 0 : at + padded, isBig).copy(directory);
      parts.push(directory);
      at += padded;
    }
    return Buffer.concat(parts);
  };
  return layOut(layOut(0).length);
}

function toOffsets(
  levels: readonly Level[],
  start: number,
): readonly { readonly tiles: readonly number[]; readonly maskTiles: readonly number[] }[] {
  let at = start;
  const place = (stored: readonly Uint8Array[]) => {
    const { offsets, end } = placeTiles(stored, at);
    at = end;
    return offsets;
  };
  return levels
    .toReversed()
    .map(({ tiles, maskTiles }) => ({ tiles: place(tiles), maskTiles: place(maskTiles) }))
    .toReversed();
}

function toTags(
  grid: Grid,
  level: Level,
  index: number,
  offsets: readonly number[],
  options: CogOptions,
  isBig: boolean,
): TagValue[] {
  const { bands, type, nodata, isRgb = false } = options;
  const colors = isRgb ? 3 : 1;
  const metadata = index === 0 ? toGdalMetadata(bands) : undefined;
  return [
    { id: 254, type: "long", values: [index === 0 ? 0 : 1] },
    { id: 256, type: "long", values: [level.width] },
    { id: 257, type: "long", values: [level.height] },
    ...toSampleTags(type, bands.length),
    { id: 259, type: "short", values: [8] },
    { id: 262, type: "short", values: [isRgb ? 2 : 1] },
    { id: 277, type: "short", values: [bands.length] },
    { id: 284, type: "short", values: [1] },
    { id: 317, type: "short", values: [type.startsWith("f") ? 1 : 2] },
    { id: 322, type: "short", values: [TILE] },
    { id: 323, type: "short", values: [TILE] },
    { id: 324, type: isBig ? "long8" : "long", values: offsets },
    { id: 325, type: "long", values: level.tiles.map((tile) => tile.length) },
    ...(bands.length > colors
      ? [{ id: 338, type: "short" as const, values: bands.slice(colors).map(toExtraSample) }]
      : []),
    ...(index === 0 ? toGeoTags(grid) : []),
    ...(metadata === undefined ? [] : [{ id: 42_112, type: "ascii" as const, values: metadata }]),
    ...(nodata === undefined
      ? []
      : [{ id: 42_113, type: "ascii" as const, values: Number.isNaN(nodata) ? "nan" : String(nodata) }]),
  ];
}

/** Unassociated alpha, or of no meaning (TIFF 6.0 section 18). */
const toExtraSample = ({ color }: CogOptions["bands"][number]) => (color === "alpha" ? 2 : 0);

function toGdalMetadata(bands: CogOptions["bands"]): string | undefined {
  const items = bands.flatMap(({ scale, offset, unit, description }, sample) => [
    ...(scale === undefined ? [] : [`<Item name="SCALE" sample="${sample}" role="scale">${scale}</Item>`]),
    ...(offset === undefined ? [] : [`<Item name="OFFSET" sample="${sample}" role="offset">${offset}</Item>`]),
    ...(unit === undefined
      ? []
      : [`<Item name="UNITTYPE" sample="${sample}" role="unittype">${escapeXml(unit)}</Item>`]),
    ...(description === undefined
      ? []
      : [`<Item name="DESCRIPTION" sample="${sample}" role="description">${escapeXml(description)}</Item>`]),
  ]);
  return items.length === 0 ? undefined : `<GDALMetadata>${items.join("")}</GDALMetadata>`;
}

const escapeXml = (text: string) => text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Bytes of the pixels of a grid, for limits. */
export function rawBytesOf({ width, height }: Grid, type: SampleType, bands: number): number {
  return width * height * bands * bytesOf(type);
}
