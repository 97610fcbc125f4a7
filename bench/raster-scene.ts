import { execFileSync } from "node:child_process";
import { join } from "node:path";

export const SIZE = 5490;
export const PIXEL = 10;
export const [LEFT, TOP] = [499_980, 5_157_540];
export const scenesFolder = join(import.meta.dirname, "../examples/scenes");

/** A scene of 5,490² pixels, 16 bits, 3 bands: cloud-optimised, deflate with predictor, tiles of 512. */
export function makeScene(folder: string): string {
  const parts = ["maribor-0820/B04.tif", "maribor-0820/B08.tif", "maribor-0818/B04.tif"].map((file) =>
    join(scenesFolder, file),
  );
  const vrt = join(folder, "scene.vrt");
  execFileSync("gdalbuildvrt", ["-q", "-separate", vrt, ...parts]);
  const path = join(folder, "scene.tif");
  const extent = [LEFT, TOP, LEFT + SIZE * PIXEL, TOP - SIZE * PIXEL].map(String);
  execFileSync("gdal_translate", [
    "-q",
    "-of",
    "COG",
    "-r",
    "cubic",
    "-outsize",
    String(SIZE),
    String(SIZE),
    "-a_ullr",
    ...extent,
    "-co",
    "COMPRESS=DEFLATE",
    "-co",
    "PREDICTOR=2",
    "-co",
    "BLOCKSIZE=512",
    "-co",
    "NUM_THREADS=2",
    "-co",
    "RESAMPLING=NEAREST",
    vrt,
    path,
  ]);
  return path;
}
