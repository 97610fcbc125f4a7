import { RasterError, invalidRaster } from "../../errors.ts";
import { MAX_BANDS, MAX_DIMENSION, MAX_METADATA_BYTES } from "../../limits.ts";
import type { MetadataReader } from "../geotiff/metadata-reader.ts";

const MARKER = {
  soc: 0xff_4f,
  siz: 0xff_51,
  cod: 0xff_52,
  tlm: 0xff_55,
  plm: 0xff_57,
  ppm: 0xff_60,
  crg: 0xff_63,
  com: 0xff_64,
  sot: 0xff_90,
  eoc: 0xff_d9,
} as const;
const MAX_TILES = 65_535;
const MAX_MAIN_HEADER_BYTES = 1024 * 1024;

export interface TilePart {
  readonly offset: number;
  readonly length: number;
}

export interface Codestream {
  readonly width: number;
  readonly height: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly columns: number;
  readonly rows: number;
  readonly components: number;
  readonly bits: number;
  readonly isSigned: boolean;
  /** Halvings that the file has. */
  readonly reductions: number;
  /** The SIZ segment's content, and the segments that every tile needs. */
  readonly siz: Buffer;
  readonly header: Buffer;
  /** By tile. */
  readonly parts: ReadonlyMap<number, readonly TilePart[]>;
}

/** The main header and where the parts of each tile are (ISO/IEC 15444-1 annex A). Reads no pixels. */
export async function readCodestream(
  reader: MetadataReader,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<Codestream> {
  const segments: Buffer[] = [];
  let siz: Buffer | undefined;
  let reductions = 0;
  let offset = start + 2;
  for (;;) {
    const [marker, length] = await readMarker(reader, offset, signal);
    if (marker === MARKER.sot) {
      break;
    }
    if (length < 2 || offset + 2 + length > end || offset - start > MAX_MAIN_HEADER_BYTES) {
      throw invalidRaster("The header of the JPEG 2000 codestream is damaged.");
    }
    const segment = Buffer.from(await reader.read(offset, 2 + length, signal));
    if (marker === MARKER.siz) {
      siz = segment.subarray(4);
    } else if (marker === MARKER.ppm) {
      throw new RasterError("unsupported", "JPEG 2000 with packed packet headers is not supported.");
    } else if (![MARKER.tlm, MARKER.plm, MARKER.crg, MARKER.com].includes(marker as never)) {
      segments.push(segment);
      if (marker === MARKER.cod) {
        reductions = segment[9] ?? 0;
      }
    }
    offset += 2 + length;
  }
  if (siz === undefined || siz.length < 36 + 3) {
    throw invalidRaster("The JPEG 2000 codestream has no image size.");
  }
  const size = parseSize(siz);
  return {
    ...size,
    reductions: Math.min(reductions, 32),
    siz,
    header: Buffer.concat(segments),
    parts: await findParts(reader, offset, end, size.columns * size.rows, signal),
  };
}

function parseSize(siz: Buffer) {
  const [width, height, left, top, tileWidth, tileHeight, tileLeft, tileTop] = Array.from({ length: 8 }, (_, at) =>
    siz.readUInt32BE(2 + at * 4),
  ) as [number, number, number, number, number, number, number, number];
  const components = siz.readUInt16BE(34);
  if (left !== 0 || top !== 0 || tileLeft !== 0 || tileTop !== 0) {
    throw new RasterError("unsupported", "JPEG 2000 images with an offset are not supported.");
  }
  if (
    width < 1 ||
    height < 1 ||
    width > MAX_DIMENSION ||
    height > MAX_DIMENSION ||
    tileWidth < 1 ||
    tileHeight < 1 ||
    components < 1 ||
    components > MAX_BANDS ||
    siz.length < 36 + components * 3
  ) {
    throw invalidRaster(`The JPEG 2000 file claims ${width} × ${height} pixels of ${components} bands.`);
  }
  const depths = Array.from({ length: components }, (_, at) => siz.subarray(36 + at * 3, 39 + at * 3));
  if (depths.some(([depth, x, y]) => depth !== depths[0]?.[0] || x !== 1 || y !== 1)) {
    throw new RasterError("unsupported", "JPEG 2000 bands of different depth or size are not supported.");
  }
  const depth = depths[0]?.[0] ?? 7;
  const bits = (depth & 0x7f) + 1;
  if (bits > 16) {
    throw new RasterError("unsupported", `JPEG 2000 with ${bits} bits a sample is not supported.`);
  }
  const [columns, rows] = [Math.ceil(width / tileWidth), Math.ceil(height / tileHeight)];
  if (columns * rows > MAX_TILES) {
    throw invalidRaster("The JPEG 2000 file claims too many tiles.");
  }
  return {
    width,
    height,
    tileWidth: Math.min(tileWidth, width),
    tileHeight: Math.min(tileHeight, height),
    columns,
    rows,
    components,
    bits,
    isSigned: (depth & 0x80) !== 0,
  };
}

/** Goes from tile-part to tile-part by their lengths. */
async function findParts(
  reader: MetadataReader,
  first: number,
  end: number,
  tiles: number,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<number, TilePart[]>> {
  const parts = new Map<number, TilePart[]>();
  const maxParts = Math.min(tiles * 255, MAX_METADATA_BYTES / 64);
  let count = 0;
  for (let offset = first; offset + 12 <= end; count += 1) {
    const bytes = Buffer.from(await reader.read(offset, 12, signal));
    if (bytes.readUInt16BE(0) !== MARKER.sot) {
      break;
    }
    const [tile, stated] = [bytes.readUInt16BE(4), bytes.readUInt32BE(6)];
    const length = stated === 0 ? end - offset : stated;
    if (tile >= tiles || length < 14 || offset + length > end || count > maxParts) {
      throw invalidRaster("The tiles of the JPEG 2000 codestream are damaged or cut off.");
    }
    const known = parts.get(tile);
    if (known === undefined) {
      parts.set(tile, [{ offset, length }]);
    } else {
      known.push({ offset, length });
    }
    offset += length;
  }
  return parts;
}

async function readMarker(
  reader: MetadataReader,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<readonly [marker: number, length: number]> {
  const bytes = Buffer.from(await reader.read(offset, 4, signal));
  return [bytes.readUInt16BE(0), bytes.readUInt16BE(2)];
}

/**
 * A codestream of one tile at its own place: the image is cut to the tile, so that wavelets and code blocks stay where they were.
 */
export function cutTile(
  { siz, header, tileWidth, tileHeight, width, height }: Codestream,
  column: number,
  row: number,
  parts: readonly Uint8Array[],
): Buffer {
  const size = Buffer.from(siz);
  const [left, top] = [column * tileWidth, row * tileHeight];
  for (const [at, value] of [
    [2, Math.min(left + tileWidth, width)],
    [6, Math.min(top + tileHeight, height)],
    [10, left],
    [14, top],
    [18, tileWidth],
    [22, tileHeight],
    [26, left],
    [30, top],
  ] as const) {
    size.writeUInt32BE(value, at);
  }
  const sizHead = Buffer.alloc(6);
  sizHead.writeUInt16BE(MARKER.soc, 0);
  sizHead.writeUInt16BE(MARKER.siz, 2);
  sizHead.writeUInt16BE(size.length + 2, 4);
  const own = parts.map((part) => {
    const copy = Buffer.from(part);
    copy.writeUInt16BE(0, 4);
    // The length was "to the end" in the last part of some files.
    copy.writeUInt32BE(copy.length, 6);
    return copy;
  });
  const end = Buffer.alloc(2);
  end.writeUInt16BE(MARKER.eoc, 0);
  return Buffer.concat([sizHead, size, header, ...own, end]);
}
