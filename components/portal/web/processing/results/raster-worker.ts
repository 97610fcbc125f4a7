// Reads a band and sums it up, beside the page: a scene has millions of pixels.
import { fromUrl } from "geotiff";

import { computeStatistics } from "../model/raster-statistics.ts";
import type { RasterAnswer, RasterRequest } from "./raster-messages.ts";

/** Pixels that are read at most; of a larger raster the finest overview that is not larger. */
const MOST_PIXELS = 4_000_000;

async function read({ url, band }: RasterRequest): Promise<RasterAnswer> {
  const tiff = await fromUrl(url);
  const whole = await tiff.getImage(0);
  const count = await tiff.getImageCount();
  let image = whole;
  for (let index = 1; index < count && image.getWidth() * image.getHeight() > MOST_PIXELS; index += 1) {
    image = await tiff.getImage(index);
  }
  const isReduced = image !== whole;
  const values = await image.readRasters({ samples: [band - 1], interleave: true });
  return {
    bands: whole.getSamplesPerPixel(),
    width: whole.getWidth(),
    height: whole.getHeight(),
    reducedBy: isReduced ? whole.getWidth() / image.getWidth() : 1,
    noData: whole.getGDALNoData(),
    statistics: computeStatistics(values as unknown as ArrayLike<number>, whole.getGDALNoData()),
  };
}

self.addEventListener("message", ({ data }: MessageEvent<RasterRequest>) => {
  read(data).then(
    (answer) => self.postMessage({ id: data.id, answer }),
    (error: unknown) =>
      self.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) }),
  );
});
