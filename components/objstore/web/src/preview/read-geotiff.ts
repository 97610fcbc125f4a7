import { type GeoTIFF, type GeoTIFFImage, fromUrl } from "geotiff";

/** What the head of a GeoTIFF says. */
export interface RasterInfo {
  readonly width: number;
  readonly height: number;
  readonly bands: number;
  /** `uint16`, `float32`. */
  readonly numbers: string;
  readonly noData: number | undefined;
  /** EPSG code of its reference system. */
  readonly epsg: number | undefined;
  /** West, south, east, north in its reference system. */
  readonly box: readonly [number, number, number, number] | undefined;
  readonly pixelSize: readonly [number, number] | undefined;
  readonly isTiled: boolean;
  readonly overviews: number;
}

/** A GeoTIFF that is read in parts. */
export interface Raster {
  readonly info: RasterInfo;
  /** The copy of it in fewer pixels that serves as a preview, the raster itself where it has none. */
  readonly image: GeoTIFFImage;
  /** Bytes of that copy, unpacked. */
  readonly bytes: number;
}

/** Shorter sides than this show too little. */
const WANTED = 512;

/**
 * Reads the head of a GeoTIFF, to its end: requests of the library that are broken off reject promises that nobody waits for.
 * @throws {Error} when it is none
 */
export async function readRaster(url: string): Promise<Raster> {
  const tiff = await fromUrl(url, { allowFullFile: true, blockSize: 65_536 });
  const first = await tiff.getImage(0);
  const copies = await listOverviews(tiff, first);
  const image = copies.findLast((each) => Math.max(each.getWidth(), each.getHeight()) >= WANTED) ?? first;
  return {
    info: toInfo(first, copies.length - 1),
    image,
    bytes: image.getWidth() * image.getHeight() * image.getSamplesPerPixel() * image.getBytesPerPixel(),
  };
}

/** The raster and its copies in fewer pixels, largest first. Masks and other pictures in the file are left out. */
async function listOverviews(tiff: GeoTIFF, first: GeoTIFFImage): Promise<readonly GeoTIFFImage[]> {
  const count = Math.min(await tiff.getImageCount(), 32);
  const found = [first];
  for (let index = 1; index < count; index += 1) {
    const image = await tiff.getImage(index);
    const kind = Number(image.fileDirectory.getValue("NewSubfileType") ?? 0);
    if (kind === 1 && image.getSamplesPerPixel() === first.getSamplesPerPixel()) {
      found.push(image);
    }
  }
  return found.toSorted((a, b) => b.getWidth() - a.getWidth());
}

function toInfo(image: GeoTIFFImage, overviews: number): RasterInfo {
  const bbox = readBox(image);
  const keys = image.getGeoKeys();
  const epsg = Number(keys?.ProjectedCSTypeGeoKey ?? keys?.GeographicTypeGeoKey);
  return {
    width: image.getWidth(),
    height: image.getHeight(),
    bands: image.getSamplesPerPixel(),
    numbers: `${KINDS[image.getSampleFormat() as 1 | 2 | 3] ?? "uint"}${image.getBitsPerSample()}`,
    noData: image.getGDALNoData() ?? undefined,
    // 32767 says that the file describes its system itself.
    epsg: Number.isInteger(epsg) && epsg !== 32_767 ? epsg : undefined,
    box: bbox,
    pixelSize: bbox && [(bbox[2] - bbox[0]) / image.getWidth(), (bbox[3] - bbox[1]) / image.getHeight()],
    isTiled: image.isTiled,
    overviews,
  };
}

const KINDS = { 1: "uint", 2: "int", 3: "float" } as const;

/** A picture without a place has none. */
function readBox(image: GeoTIFFImage): RasterInfo["box"] {
  try {
    const bbox = image.getBoundingBox();
    return bbox.length === 4 && bbox.every((each) => Number.isFinite(each))
      ? (bbox as unknown as RasterInfo["box"])
      : undefined;
  } catch {
    return undefined;
  }
}
