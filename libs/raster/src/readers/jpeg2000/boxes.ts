import { invalidRaster } from "../../errors.ts";
import { parseCrs, type Crs } from "../../warp/crs.ts";
import type { Source } from "../../sources/source.ts";
import { checkDirectories } from "../geotiff/check-directories.ts";
import type { Georeference } from "../geotiff/georeference.ts";
import { MetadataReader } from "../geotiff/metadata-reader.ts";
import { parseTiff, readGeoreference } from "../geotiff/read-georeference.ts";

const GEOJP2 = "b14bf8bd083d4b43a5ae8cd7d5a6ce03";
const MAX_BOXES = 200;
const MAX_BOX_BYTES = 4 * 1024 * 1024;
const CODESTREAM = 0xff_4f;

export interface Jp2File {
  /** Where the codestream begins and, where known, ends. */
  readonly start: number;
  readonly end: number;
  readonly georeference: Georeference & { readonly crs?: Crs; readonly unknownCrs?: string };
}

/** Boxes of a JP2 file (ISO/IEC 15444-1 annex I), or a bare codestream. */
export async function readBoxes(reader: MetadataReader, signal?: AbortSignal): Promise<Jp2File> {
  const size = reader.size ?? Number.MAX_SAFE_INTEGER;
  const first = await reader.read(0, 2, signal);
  if ((((first[0] ?? 0) << 8) | (first[1] ?? 0)) === CODESTREAM) {
    return { start: 0, end: size, georeference: {} };
  }
  let fromTiff: Jp2File["georeference"] = {};
  let fromGml: Jp2File["georeference"] = {};
  let offset = 0;
  for (let count = 0; offset + 8 <= size; count += 1) {
    if (count === MAX_BOXES) {
      throw invalidRaster(`The JP2 file has more than ${MAX_BOXES} boxes before its pixels.`);
    }
    const head = Buffer.from(await reader.read(offset, Math.min(16, size - offset), signal));
    const type = head.toString("latin1", 4, 8);
    const short = head.readUInt32BE(0);
    const headBytes = short === 1 ? 16 : 8;
    const length = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? size - offset : short;
    if (length < headBytes || offset + length > size) {
      throw invalidRaster("A box of the JP2 file is longer than the file.");
    }
    if (type === "jp2c") {
      return {
        start: offset + headBytes,
        end: offset + length,
        georeference: fromTiff.crs === undefined && fromGml.crs !== undefined ? fromGml : fromTiff,
      };
    }
    const bodyBytes = length - headBytes;
    if ((type === "uuid" || type === "asoc") && bodyBytes <= MAX_BOX_BYTES) {
      const body = Buffer.from(await reader.read(offset + headBytes, bodyBytes, signal));
      if (type === "uuid" && body.toString("hex", 0, 16) === GEOJP2) {
        fromTiff = await readGeoJp2(body.subarray(16));
      } else if (type === "asoc") {
        fromGml = readGml(body.toString("utf8"));
      }
    }
    offset += length;
  }
  throw invalidRaster("The JP2 file has no codestream.");
}

/** GeoJP2: a TIFF of one pixel that has the georeference. A damaged one leaves the file without. */
async function readGeoJp2(bytes: Uint8Array): Promise<Jp2File["georeference"]> {
  const source: Source = {
    key: "geojp2",
    size: bytes.length,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
    isCurrent: async () => true,
    close: async () => {},
  };
  try {
    const reader = new MetadataReader(source);
    await checkDirectories(reader);
    const [image] = (await parseTiff(reader)).images;
    return image === undefined ? {} : await readGeoreference(image, reader);
  } catch {
    return {};
  }
}

/** GMLJP2 as Sentinel-2 has it: a rectified grid whose origin is the centre of the first pixel. */
function readGml(xml: string): Jp2File["georeference"] {
  const numbers = (text: string | undefined) =>
    (text ?? "")
      .trim()
      .split(/[\s,]+/)
      .map(Number);
  const grid = /<gml:RectifiedGrid[\s\S]{0,20000}?<\/gml:RectifiedGrid>/.exec(xml)?.[0] ?? "";
  const [x = Number.NaN, y = Number.NaN] = numbers(/<gml:(?:pos|coordinates)[^>]*>([^<]+)</.exec(grid)?.[1]);
  const [first, second] = [...grid.matchAll(/<gml:offsetVector[^>]*>([^<]+)</g)].map(([, text]) => numbers(text));
  const name = /srsName="([^"]+)"/.exec(grid)?.[1] ?? /srsName="([^"]+)"/.exec(xml)?.[1];
  const [a = Number.NaN, d = Number.NaN] = first ?? [];
  const [b = Number.NaN, e = Number.NaN] = second ?? [];
  if (name === undefined || ![x, y, a, b, d, e].every(Number.isFinite) || a * e - b * d === 0) {
    return {};
  }
  try {
    const crs = parseCrs(name);
    return crs.isNorthFirst
      ? { crs, transform: [d, e, y - (d + e) / 2, a, b, x - (a + b) / 2] }
      : { crs, transform: [a, b, x - (a + b) / 2, d, e, y - (d + e) / 2] };
  } catch {
    return {};
  }
}
