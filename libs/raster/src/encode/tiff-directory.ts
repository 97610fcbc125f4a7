import type { SampleType } from "../readers/raster.ts";
import type { Grid } from "../warp/grid.ts";
import { invalidRequest } from "../errors.ts";
import { findGeoKeys } from "./geo-keys.ts";
import { TILE } from "./cog-tiles.ts";

/** GeoKeys and tags of GeoTIFF 1.1. */
const RASTER_TYPE = 1025;
const PIXEL_IS_AREA = 1;
const DOUBLES = 34_736;

/** Types of tags that are written. */
const TYPE = { ascii: 2, short: 3, long: 4, double: 12, long8: 16 } as const;

export interface TagValue {
  readonly id: number;
  readonly type: keyof typeof TYPE;
  readonly values: readonly number[] | string;
}

const BYTES = { ascii: 1, short: 2, long: 4, double: 8, long8: 8 } as const;

/** A directory of a BigTIFF or TIFF at an offset, with the values that do not fit into it behind it. */
export function encodeDirectory(tags: readonly TagValue[], offset: number, next: number, isBig: boolean): Buffer {
  const sorted = tags.toSorted((a, b) => a.id - b.id);
  const [countBytes, entryBytes, pointerBytes] = isBig ? [8, 20, 8] : [2, 12, 4];
  const headBytes = countBytes + sorted.length * entryBytes + pointerBytes;
  const head = Buffer.alloc(headBytes);
  const tail: Buffer[] = [];
  let tailBytes = 0;
  if (isBig) {
    head.writeBigUInt64LE(BigInt(sorted.length), 0);
  } else {
    head.writeUInt16LE(sorted.length, 0);
  }
  for (const [index, tag] of sorted.entries()) {
    const at = countBytes + index * entryBytes;
    const value = encodeValue(tag);
    const count = value.length / BYTES[tag.type];
    head.writeUInt16LE(tag.id, at);
    head.writeUInt16LE(TYPE[tag.type], at + 2);
    writePointer(head, at + 4, count, isBig);
    const valueAt = at + 4 + pointerBytes;
    if (value.length <= pointerBytes) {
      value.copy(head, valueAt);
    } else {
      writePointer(head, valueAt, offset + headBytes + tailBytes, isBig);
      const padded = Buffer.alloc(Math.ceil(value.length / 8) * 8);
      value.copy(padded);
      tail.push(padded);
      tailBytes += padded.length;
    }
  }
  writePointer(head, headBytes - pointerBytes, next, isBig);
  return Buffer.concat([head, ...tail]);
}

export function writePointer(buffer: Buffer, at: number, value: number, isBig: boolean): void {
  if (isBig) {
    buffer.writeBigUInt64LE(BigInt(value), at);
  } else {
    buffer.writeUInt32LE(value, at);
  }
}

function encodeValue({ type, values }: TagValue): Buffer {
  if (typeof values === "string") {
    return Buffer.from(`${values}\0`, "utf8");
  }
  const buffer = Buffer.alloc(values.length * BYTES[type]);
  for (const [index, value] of values.entries()) {
    const at = index * BYTES[type];
    if (type === "short") {
      buffer.writeUInt16LE(value, at);
    } else if (type === "long") {
      buffer.writeUInt32LE(value, at);
    } else if (type === "double") {
      buffer.writeDoubleLE(value, at);
    } else if (type === "long8") {
      buffer.writeBigUInt64LE(BigInt(value), at);
    } else {
      buffer.writeUInt8(value, at);
    }
  }
  return buffer;
}

/** GeoTIFF tags of a north-up grid whose system has an EPSG code, or of one that is in none. */
export function toGeoTags({ crs, bbox, width, height }: Grid): readonly TagValue[] {
  const [minX, minY, maxX, maxY] = bbox;
  const place: readonly TagValue[] = [
    { id: 33_550, type: "double", values: [(maxX - minX) / width, (maxY - minY) / height, 0] },
    { id: 33_922, type: "double", values: [0, 0, 0, minX, maxY, 0] },
  ];
  if (crs.local !== undefined) {
    return crs.local === "pixels" ? [] : place;
  }
  const keys = findGeoKeys(crs);
  if (keys === undefined) {
    throw invalidRequest("A GeoTIFF cannot describe this system: choose one with an EPSG code.");
  }
  const doubles = [...keys.doubles];
  const entries = [
    ...[...keys.shorts, [RASTER_TYPE, PIXEL_IS_AREA] as const].map(([id, value]) => [id, 0, 1, value] as const),
    ...doubles.map(([id], at) => [id, DOUBLES, 1, at] as const),
  ].toSorted(([one], [other]) => one - other);
  return [
    ...place,
    { id: 34_735, type: "short", values: [1, 1, 0, entries.length, ...entries.flat()] },
    ...(doubles.length === 0
      ? []
      : [{ id: DOUBLES, type: "double" as const, values: doubles.map(([, value]) => value) }]),
  ];
}

/** SampleFormat and bits (TIFF 6.0 section 19). */
export function toSampleTags(type: SampleType, samples: number): readonly TagValue[] {
  const bits = Number(/\d+/.exec(type)?.[0]);
  const format = type.startsWith("u") ? 1 : type.startsWith("i") ? 2 : 3;
  return [
    { id: 258, type: "short", values: Array.from({ length: samples }, () => bits) },
    { id: 339, type: "short", values: Array.from({ length: samples }, () => format) },
  ];
}

/** The directory of a mask of one bit a pixel, in deflated tiles, behind that of its image. */
export function toMaskTags(
  { width, height }: { readonly width: number; readonly height: number },
  level: number,
  offsets: readonly number[],
  tiles: readonly Uint8Array[],
  isBig: boolean,
): readonly TagValue[] {
  return [
    { id: 254, type: "long", values: [level === 0 ? 4 : 5] },
    { id: 256, type: "long", values: [width] },
    { id: 257, type: "long", values: [height] },
    { id: 258, type: "short", values: [1] },
    { id: 259, type: "short", values: [8] },
    { id: 262, type: "short", values: [4] },
    { id: 277, type: "short", values: [1] },
    { id: 284, type: "short", values: [1] },
    { id: 322, type: "short", values: [TILE] },
    { id: 323, type: "short", values: [TILE] },
    { id: 324, type: isBig ? "long8" : "long", values: offsets },
    { id: 325, type: "long", values: tiles.map(({ length }) => length) },
  ];
}
