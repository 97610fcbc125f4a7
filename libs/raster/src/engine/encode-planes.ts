import { encodeCog } from "../encode/cog.ts";
import type { Plane } from "../render/plane.ts";
import type { Grid } from "../warp/grid.ts";
import { type WrittenBand, toCogOptions } from "./cog-options.ts";

/** A cloud-optimised GeoTIFF of pixels in memory; `hasMask: false` leaves a mask out, but no nodata. */
export async function encodePlanes(
  grid: Grid,
  planes: readonly Plane[],
  { infos, hasMask }: { readonly infos: readonly WrittenBand[] | undefined; readonly hasMask: boolean },
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const bands = planes.map(({ type }, index): WrittenBand => ({
    ...(infos?.[index] ?? { isComplex: false, color: "gray", isPlain: false }),
    type,
  }));
  const rows = async (firstRow: number, count: number) =>
    planes.map(({ samples, mask, type }) => ({
      samples: samples.subarray(firstRow * grid.width, (firstRow + count) * grid.width),
      mask: mask.subarray(firstRow * grid.width, (firstRow + count) * grid.width),
      type,
    }));
  const options = toCogOptions(bands, false);
  const parts: Uint8Array[] = [];
  for await (const part of encodeCog(grid, rows, hasMask ? options : { ...options, hasMask: false }, signal)) {
    parts.push(part);
  }
  return Buffer.concat(parts);
}
