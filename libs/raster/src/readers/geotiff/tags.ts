import type { Tag, TiffImage } from "@cogeotiff/core";

import { invalidRaster } from "../../errors.ts";
import type { MetadataReader } from "./metadata-reader.ts";

/** Tags of TIFF 6.0, its supplements, GeoTIFF 1.1 and GDAL. */
export const TAG = {
  subfileType: 254,
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  stripOffsets: 273,
  samplesPerPixel: 277,
  rowsPerStrip: 278,
  stripByteCounts: 279,
  planarConfiguration: 284,
  predictor: 317,
  colorMap: 320,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileByteCounts: 325,
  extraSamples: 338,
  sampleFormat: 339,
  jpegTables: 347,
  pixelScale: 33_550,
  tiePoints: 33_922,
  transformation: 34_264,
  geoKeys: 34_735,
  geoDoubles: 34_736,
  geoAscii: 34_737,
  gdalMetadata: 42_112,
  gdalNodata: 42_113,
  lercParameters: 50_674,
} as const;

const MAX_TAG_BYTES = 16 * 1024 * 1024;
/** Bytes of a value by its type (TIFF 6.0 section 2, BigTIFF). */
const TYPE_BYTES: Readonly<Record<number, number>> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  16: 8,
  17: 8,
  18: 8,
};

/** Numbers of a tag; empty when the image does not have it. */
export async function readNumbers(
  image: TiffImage,
  id: number,
  reader: MetadataReader,
  signal?: AbortSignal,
): Promise<readonly number[]> {
  const tag = tagOf(image, id);
  if (tag === undefined) {
    return [];
  }
  const bytes = await readTagBytes(tag, reader, signal);
  if (bytes === undefined) {
    const { value } = tag;
    return typeof value === "number"
      ? [value]
      : typeof value === "string"
        ? []
        : Array.from(value as ArrayLike<number>, Number);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const width = TYPE_BYTES[Number(tag.dataType)] ?? 0;
  return Array.from({ length: tag.count }, (_, index) =>
    readValue(view, index * width, Number(tag.dataType), image.tiff.isLittleEndian),
  );
}

export async function readText(
  image: TiffImage,
  id: number,
  reader: MetadataReader,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const tag = tagOf(image, id);
  if (tag === undefined) {
    return undefined;
  }
  const bytes = await readTagBytes(tag, reader, signal);
  const text = bytes === undefined ? String(tag.value) : Buffer.from(bytes).toString("utf8");
  return text.replace(/\0[\s\S]*$/, "");
}

/** Bytes of a tag that holds data, such as tables of a JPEG. */
export async function readBytes(
  image: TiffImage,
  id: number,
  reader: MetadataReader,
  signal?: AbortSignal,
): Promise<Uint8Array | undefined> {
  const values = await readNumbers(image, id, reader, signal);
  return values.length === 0 ? undefined : Uint8Array.from(values);
}

/** One entry of a table of offsets or lengths, without reading the whole table; 0 beyond its end, as in sparse files. */
export async function readEntry(
  image: TiffImage,
  id: number,
  index: number,
  reader: MetadataReader,
  signal?: AbortSignal,
): Promise<number> {
  const tag = tagOf(image, id);
  if (tag === undefined || index >= tag.count) {
    return 0;
  }
  if (tag.type === "inline") {
    const { value } = tag;
    return Number(typeof value === "number" ? value : (value as ArrayLike<number>)[index]);
  }
  const width = TYPE_BYTES[Number(tag.dataType)] ?? 0;
  const bytes = await reader.read(tag.dataOffset + index * width, width, signal);
  return readValue(
    new DataView(bytes.buffer, bytes.byteOffset, width),
    0,
    Number(tag.dataType),
    image.tiff.isLittleEndian,
  );
}

function tagOf(image: TiffImage, id: number): Tag | undefined {
  return image.tags.get(id);
}

/** The stored bytes of a tag; `undefined` where the value is already at hand. */
async function readTagBytes(
  tag: Tag,
  reader: MetadataReader,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  if (tag.type === "inline") {
    return undefined;
  }
  const length = tag.count * (TYPE_BYTES[Number(tag.dataType)] ?? 0);
  if (length > MAX_TAG_BYTES) {
    throw invalidRaster(`Tag ${tag.id} of the TIFF claims ${length} bytes.`);
  }
  return reader.read(tag.dataOffset, length, signal);
}

function readValue(view: DataView, at: number, type: number, isLittle: boolean): number {
  switch (type) {
    case 1:
    case 2:
    case 7:
      return view.getUint8(at);
    case 6:
      return view.getInt8(at);
    case 3:
      return view.getUint16(at, isLittle);
    case 8:
      return view.getInt16(at, isLittle);
    case 4:
    case 13:
      return view.getUint32(at, isLittle);
    case 9:
      return view.getInt32(at, isLittle);
    case 11:
      return view.getFloat32(at, isLittle);
    case 12:
      return view.getFloat64(at, isLittle);
    case 16:
    case 18:
      return Number(view.getBigUint64(at, isLittle));
    case 17:
      return Number(view.getBigInt64(at, isLittle));
    default:
      throw invalidRaster(`The TIFF uses type ${type} where a number is expected.`);
  }
}
