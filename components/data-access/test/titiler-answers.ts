import { writeFileSync } from "node:fs";
import { join } from "node:path";

import sharp from "sharp";

import { readWithGdal, runGdal } from "../../../libs/raster/test/gdal.ts";

export interface Answer {
  readonly status: number;
  readonly type: string;
  /** Base64. */
  readonly answer: string;
}

/** What is different in the kind of two answers: refused or not, and the media type. */
export function compareKinds(own: Answer, theirs: Answer): string | undefined {
  const text = Buffer.from(own.answer, "base64").toString("utf8", 0, 300);
  if (own.status >= 400 || theirs.status >= 400) {
    const isSame = own.status >= 400 && own.status < 500 && theirs.status >= 400;
    return isSame ? undefined : `${own.status} instead of ${theirs.status} ${own.status >= 400 ? text : ""}`;
  }
  const [mine, other] = [own.type, theirs.type].map((type) => type.split(";")[0]);
  return mine === other ? undefined : `${mine} instead of ${other}`;
}

/** What is different in the values. */
export async function compareValues(own: Answer, theirs: Answer, folder: string): Promise<string | undefined> {
  const type = theirs.type.split(";")[0] ?? "";
  const [mine, other] = [own, theirs].map(({ answer }) => Buffer.from(answer, "base64")) as [Buffer, Buffer];
  return theirs.status >= 400 || type === "text/html"
    ? undefined
    : type.endsWith("json")
      ? compareJson(JSON.parse(mine.toString()), JSON.parse(other.toString()), "")
      : type === "application/x-binary"
        ? compareArrays(mine, other)
        : type === "image/tiff"
          ? compareFiles(mine, other, folder)
          : comparePictures(mine, other);
}

/** Addresses, and what tells of the program rather than of the data. */
const OWN =
  /\.(links|tiles|crs|band_metadata|band_descriptions|title|description|name|inputs|outputs|parameters|metadata)$/;

/**
 * Statistics of an area: TiTiler rasterises it ten times finer and takes each small cell that is touched, which is more than the area along its
 * edge (0.6 % of 1,514 pixels), and reads overviews where the file is made smaller. Ours measures each pixel's covered part.
 */
const OF_AREA = /\.properties\.statistics\./;
/** Counts by value, of pixels of which a hundredth may be others. */
const HISTOGRAM = /\.properties\.statistics\.b\d+\.histogram\.0$/;
/** The rarest value is that of one pixel or two, which may be at the edge. */
const RAREST = /\.properties\.statistics\.b\d+\.(minority|unique|histogram\.1)$/;

/** Red, green, blue and alpha of a value of a colour map. */
const COLOR = /^\.\d+\.[0-3]$/;

/** What they say, within a thousandth; more may be said. */
function compareJson(own: unknown, theirs: unknown, at: string): string | undefined {
  if (Array.isArray(own) && Array.isArray(theirs) && (own as unknown[]).every((each) => keyOf(each) !== undefined)) {
    return compareLists(own, theirs, at);
  }
  if (HISTOGRAM.test(at)) {
    return compareCounts(own as readonly number[], theirs as readonly number[], at);
  }
  if (RAREST.test(at)) {
    return undefined;
  }
  if (OWN.test(at)) {
    return own === undefined ? `${at} is missing` : undefined;
  }
  if (typeof theirs === "number" && typeof own === "number") {
    // matplotlib's bytes are cut off, ours are rounded.
    const least = COLOR.test(at) ? 1 : 1e-3;
    const share = OF_AREA.test(at) ? 1e-2 : 1e-3;
    const isNear = Math.abs(own - theirs) <= Math.max(share * Math.abs(theirs), least);
    return isNear ? undefined : `${at} is ${own} instead of ${theirs}`;
  }
  if (typeof theirs !== "object" || theirs === null) {
    return own === theirs ? undefined : `${at} is ${JSON.stringify(own)} instead of ${JSON.stringify(theirs)}`;
  }
  if (typeof own !== "object" || own === null) {
    return `${at} is ${JSON.stringify(own)} instead of ${JSON.stringify(theirs).slice(0, 80)}`;
  }
  for (const [key, value] of Object.entries(theirs)) {
    // Nothing is said by what is empty.
    if (typeof value === "object" && value !== null && Object.keys(value).length === 0) {
      continue;
    }
    const difference = compareJson((own as Record<string, unknown>)[key], value, `${at}.${key}`);
    if (difference !== undefined) {
      return difference;
    }
  }
  return undefined;
}

function compareCounts(own: readonly number[], theirs: readonly number[], at: string): string | undefined {
  const sum = theirs.reduce((total, count) => total + count, 0);
  const others = theirs.reduce((total, count, index) => total + Math.abs(count - (own[index] ?? 0)), 0);
  return own.length >= theirs.length - 1 && others <= sum / 50
    ? undefined
    : `${at} is ${JSON.stringify(own)} instead of ${JSON.stringify(theirs)}`;
}

/** Lists of named things: what both have is the same, and there is some; they differ in how much they offer. */
function compareLists(own: readonly unknown[], theirs: readonly unknown[], at: string): string | undefined {
  const known = new Map(theirs.map((each) => [keyOf(each), each]));
  const both = own.filter((each) => known.has(keyOf(each)));
  return both.length === 0
    ? `${at} has nothing of theirs`
    : both.map((each) => compareJson(each, known.get(keyOf(each)), `${at}[${keyOf(each)}]`)).find(Boolean);
}

/** `id`, or the last part of the address of a tile set; a polygon of several is named after where it begins. */
function keyOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const ring = (value as unknown[][][])[0];
    const isPolygon = Array.isArray(ring?.[0]) && typeof (ring[0] as unknown[])[0] === "number";
    return isPolygon ? String(Math.round(Math.min(...(ring as unknown as number[][]).map(([x = 0]) => x)))) : undefined;
  }
  const { id, links, tileMatrix } = (value ?? {}) as {
    id?: string;
    tileMatrix?: string;
    links?: readonly { href: string; rel: string }[];
  };
  const self = links?.find(({ rel }) => rel === "self")?.href;
  return id ?? tileMatrix ?? (self === undefined ? undefined : new URL(self).pathname.split("/").at(-1));
}

/** Values by pixels, and the mask by its meaning: theirs has the greatest and the least value of the type, ours 255 and 0. */
function compareArrays(own: Buffer, theirs: Buffer): string | undefined {
  const [mine, other] = [readArray(own), readArray(theirs)];
  if (mine.head !== other.head) {
    return `${mine.head} instead of ${other.head}`;
  }
  const isBytes = mine.head.includes("'|u1'");
  const pixels = mine.values.length - mine.start;
  let [different, missing] = [0, 0];
  for (let at = 0; at < mine.values.length; at += 1) {
    if (at < mine.start) {
      const mask = other.values[other.start + (at % pixels)]!;
      // Their colour formulas are of bytes that were cut off, ours of the values: a curve of slope 2.5 makes 1 to 3.
      const apart = Math.abs(mine.values[at]! - other.values[at]!);
      different += mask <= 0 || Object.is(mine.values[at], other.values[at]) || (isBytes && apart <= 3) ? 0 : 1;
    } else {
      missing += mine.values[at]! > 0 === other.values[at]! > 0 ? 0 : 1;
    }
  }
  return different <= mine.start * 0.01 && missing <= pixels * 0.01
    ? undefined
    : `${different} of ${mine.start} values differ, ${missing} of ${pixels} pixels of the mask`;
}

const ARRAYS: Readonly<Record<string, (bytes: ArrayBuffer) => ArrayLike<number>>> = {
  "|u1": (bytes) => new Uint8Array(bytes),
  "|i1": (bytes) => new Int8Array(bytes),
  "<u2": (bytes) => new Uint16Array(bytes),
  "<i2": (bytes) => new Int16Array(bytes),
  "<u4": (bytes) => new Uint32Array(bytes),
  "<i4": (bytes) => new Int32Array(bytes),
  "<f4": (bytes) => new Float32Array(bytes),
  "<f8": (bytes) => new Float64Array(bytes),
};

/** `start`: where the mask begins, which is the last band. */
export function readArray(bytes: Buffer): { head: string; values: ArrayLike<number>; start: number } {
  const end = 10 + bytes.readUInt16LE(8);
  const head = bytes.toString("latin1", 10, end).trim();
  const type = /'descr': '([^']+)'/.exec(head)?.[1] ?? "";
  const bands = Number(/'shape': \((\d+),/.exec(head)?.[1]);
  const values = ARRAYS[type]?.(Uint8Array.from(bytes.subarray(end)).buffer);
  if (values === undefined || !(bands > 1)) {
    throw new TypeError(`An array of this kind is not compared: ${head}`);
  }
  return { head, values, start: (values.length / bands) * (bands - 1) };
}

interface File {
  readonly size: string;
  readonly types: readonly string[];
  readonly means: readonly number[];
}

/** Size, types and means of the bands that are data: their mask is a band more, and ours stands beside them. */
function compareFiles(own: Buffer, theirs: Buffer, folder: string): string | undefined {
  const [mine, other] = [readFile(own, folder), readFile(theirs, folder)];
  const count = mine.types.length;
  const isMore = other.types.length > count + 1 || other.types.length < count;
  const isSame =
    mine.size === other.size &&
    // numpy's expressions of 16 bits are of 32; ours stay as they are where they are plain.
    mine.types.every(
      (type, band) => type === other.types[band] || (type === "UInt16" && other.types[band] === "Int32"),
    ) &&
    mine.means.every((mean, band) => Math.abs(mean - other.means[band]!) <= 0.01 * Math.abs(other.means[band]!));
  return isSame && !isMore ? undefined : `${JSON.stringify(mine)} instead of ${JSON.stringify(other)}`;
}

function readFile(bytes: Buffer, folder: string): File {
  const path = join(folder, "x.tif");
  writeFileSync(path, bytes);
  const info = JSON.parse(runGdal("gdalinfo", ["-json", path])) as { size: number[]; bands: { type: string }[] };
  const values = readWithGdal(path, folder);
  const pixels = values.length / info.bands.length;
  const means = info.bands.map((_, band) => {
    const own = values.subarray(band * pixels, (band + 1) * pixels).filter((value) => !Number.isNaN(value));
    return own.reduce((sum, value) => sum + value, 0) / own.length;
  });
  return { size: info.size.join("×"), types: info.bands.map(({ type }) => type), means };
}

async function comparePictures(own: Buffer, theirs: Buffer): Promise<string | undefined> {
  const [mine, other] = await Promise.all(
    [own, theirs].map(async (bytes) => {
      const { data, info } = await sharp(bytes)
        .flatten({ background: "#000" })
        .toColourspace("srgb")
        .raw()
        .toBuffer({ resolveWithObject: true });
      return { data, size: `${info.width}×${info.height}×${info.channels}` };
    }),
  );
  if (mine === undefined || other === undefined || mine.size !== other.size) {
    return `${mine?.size} instead of ${other?.size}`;
  }
  const sum = other.data.reduce((total, value, at) => total + Math.abs(value - mine.data[at]!), 0);
  const mean = sum / other.data.length;
  return mean <= 4 ? undefined : `pictures differ by ${mean.toFixed(1)}`;
}

/** The mean of the pixels that are not black. */
export async function meanOf({ answer }: Answer): Promise<number> {
  const picture = sharp(Buffer.from(answer, "base64")).flatten({ background: "#000" }).toColourspace("b-w");
  const bytes = [...(await picture.raw().toBuffer())].filter((value) => value > 4);
  return bytes.reduce((sum, value) => sum + value, 0) / bytes.length;
}
