import type { GeoTIFFImage } from "geotiff";

import { type Stretch, findStretch, toByte } from "./stretch.ts";

interface DrawOptions {
  readonly image: GeoTIFFImage;
  readonly noData: number | undefined;
}

interface Drawn {
  readonly picture: ImageData;
  /** What the darkest and the brightest stand for, a pair a band that is shown. */
  readonly stretches: readonly Stretch[];
}

/** Longer sides are drawn in fewer pixels. */
const LONGEST = 1024;

/** A raster as a picture: three bands as red, green and blue, one band in grey; dark and bright by what is in it. */
export async function drawRaster({ image, noData }: DrawOptions): Promise<Drawn> {
  const scale = Math.min(1, LONGEST / Math.max(image.getWidth(), image.getHeight()));
  const width = Math.max(1, Math.round(image.getWidth() * scale));
  const height = Math.max(1, Math.round(image.getHeight() * scale));
  const size = { width, height };
  // Other than grey (0, 1) and red-green-blue (2): a palette and what cameras write.
  const isPlain = Number(image.fileDirectory.getValue("PhotometricInterpretation") ?? 1) <= 2;
  const bands = image.getSamplesPerPixel();
  if (!isPlain) {
    const rgb = await image.readRGB({ ...size, interleave: false });
    return {
      picture: paint(
        width,
        height,
        [rgb[0], rgb[1], rgb[2]] as readonly ArrayLike<number>[],
        [PLAIN, PLAIN, PLAIN],
        undefined,
      ),
      stretches: [],
    };
  }
  const samples = bands >= 3 ? [0, 1, 2] : [0];
  const rasters = (await image.readRasters({
    ...size,
    samples,
    interleave: false,
  })) as unknown as readonly ArrayLike<number>[];
  const isBytes = image.getBitsPerSample() === 8 && bands >= 3;
  const stretches = rasters.map((raster) => (isBytes ? PLAIN : findStretch(raster, noData)));
  return { picture: paint(width, height, rasters, stretches, noData), stretches };
}

const PLAIN: Stretch = { low: 0, high: 255 };

function paint(
  width: number,
  height: number,
  rasters: readonly ArrayLike<number>[],
  stretches: readonly Stretch[],
  noData: number | undefined,
): ImageData {
  const picture = new ImageData(width, height);
  const { data } = picture;
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    let hasValue = false;
    for (let channel = 0; channel < 3; channel += 1) {
      const band = Math.min(channel, rasters.length - 1);
      const value = rasters[band]?.[pixel] ?? Number.NaN;
      hasValue ||= !Number.isNaN(value) && value !== noData;
      data[pixel * 4 + channel] = toByte(value, stretches[band] ?? PLAIN);
    }
    // Where there is no value the page shows through.
    data[pixel * 4 + 3] = hasValue ? 255 : 0;
  }
  return picture;
}
