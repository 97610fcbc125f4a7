// Reads a band and sums it up, beside the page: a scene has millions of pixels.
import { type GeoTIFFImage, fromUrl } from "geotiff";

import { computeStatistics } from "../model/raster-statistics.ts";
import type { RasterResponse, RasterRequest } from "./raster-messages.ts";

/** Pixels that are read at most; of a larger raster the finest overview that is not larger. */
const MAX_PIXELS = 4_000_000;

async function read({ url, band }: RasterRequest): Promise<RasterResponse> {
  const tiff = await fromUrl(url);
  const whole = await tiff.getImage(0);
  const count = await tiff.getImageCount();
  let image = whole;
  for (let index = 1; index < count && image.getWidth() * image.getHeight() > MAX_PIXELS; index += 1) {
    image = await tiff.getImage(index);
  }
  const isReduced = image !== whole;
  const place = findPlace(whole);
  const values = await image.readRasters({ samples: [band - 1], interleave: true });
  return {
    bands: whole.getSamplesPerPixel(),
    width: whole.getWidth(),
    height: whole.getHeight(),
    reducedBy: isReduced ? whole.getWidth() / image.getWidth() : 1,
    noData: whole.getGDALNoData(),
    ...(place && { place }),
    statistics: computeStatistics(values as unknown as ArrayLike<number>, whole.getGDALNoData()),
  };
}

/** Where the raster lies; nothing for one without a place on Earth, or in a reference system without a code. */
function findPlace(image: GeoTIFFImage): RasterResponse["place"] {
  const keys = image.getGeoKeys();
  const code = keys?.ProjectedCSTypeGeoKey ?? keys?.GeographicTypeGeoKey;
  if (typeof code !== "number" || code === 32_767 || !hasAffine(image)) {
    return undefined;
  }
  return { code: `EPSG:${code}`, bounds: image.getBoundingBox() as [number, number, number, number] };
}

function hasAffine(image: GeoTIFFImage): boolean {
  return image.fileDirectory.hasTag("ModelPixelScale") || image.fileDirectory.hasTag("ModelTransformation");
}

self.addEventListener("message", ({ data }: MessageEvent<RasterRequest>) => {
  read(data).then(
    (response) => self.postMessage({ id: data.id, answer: response }),
    (error: unknown) =>
      self.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) }),
  );
});
