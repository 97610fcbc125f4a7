import type { Raster } from "../src/readers/raster.ts";

/** Every sample of a band of a level, by rows. */
export async function readBand(raster: Raster, band: number, level = 0): Promise<Float64Array> {
  const { width, height, blockWidth, blockHeight } = raster.info.levels[level]!;
  const group = raster.groups.findIndex((bands) => bands.includes(band));
  const samples = new Float64Array(width * height);
  for (let row = 0; row * blockHeight < height; row += 1) {
    for (let column = 0; column * blockWidth < width; column += 1) {
      const [block] = await raster.readBlocks([{ level, group, row, column }]);
      const plane = block![raster.groups[group]!.indexOf(band)]!;
      for (let y = 0; y < Math.min(blockHeight, height - row * blockHeight); y += 1) {
        const count = Math.min(blockWidth, width - column * blockWidth);
        const line = plane.subarray(y * blockWidth, y * blockWidth + count);
        samples.set(line, (row * blockHeight + y) * width + column * blockWidth);
      }
    }
  }
  return samples;
}
