import type { CogOptions } from "../encode/cog.ts";
import type { BandInfo, RasterInfo } from "../readers/raster.ts";

/** One sample type for all bands: their own where they agree, else floats; nodata for pixels that are not there. */
export function toCogOptions(
  bands: readonly (BandInfo & { isPlain: boolean })[],
  info: RasterInfo | undefined,
  unscaled: boolean,
): CogOptions {
  const [first] = bands;
  const isUniform = bands.every(({ type }) => type === first?.type);
  const type = isUniform && first !== undefined ? first.type : "float32";
  const isFloat = type === "float32" || type === "float64";
  const isRgb =
    bands.length >= 3 && bands.slice(0, 3).every(({ color }, index) => color === ["red", "green", "blue"][index]);
  const nodata = first?.nodata ?? (isFloat ? Number.NaN : 0);
  return {
    type,
    // A file without nodata or mask has every pixel; what lies beyond its edges is 0 then.
    ...((first?.nodata !== undefined || isFloat || info?.hasMask === true || !isRgb) && { nodata }),
    isRgb,
    bands: bands.map(({ scale, offset, unit, description, isPlain }) =>
      isPlain && !unscaled
        ? {
            ...(scale !== undefined && { scale }),
            ...(offset !== undefined && { offset }),
            ...(unit !== undefined && { unit }),
            ...(description !== undefined && { description }),
          }
        : {},
    ),
  };
}
