import type { Memory } from "../memory.ts";
import type { SampleType, Samples } from "../readers/raster.ts";

/** The value that says that there is nothing, as it is stored. */
export const missingOf = (type: SampleType, nodata: number | undefined): number | undefined =>
  type === "float32" && nodata !== undefined ? Math.fround(nodata) : nodata;

/** Whether some samples say that there is nothing. */
export function hasMissing(samples: Samples, type: SampleType, missing: number | undefined): boolean {
  const isFloat = type === "float32" || type === "float64";
  return (missing !== undefined && samples.includes(missing)) || (isFloat && samples.includes(Number.NaN));
}

/** 0 for pixels whose value says that there is nothing. */
export function maskMissing(
  mask: Uint8Array,
  samples: Samples,
  missing: number | undefined,
  memory: Memory,
): Uint8Array {
  const output = memory.take("uint8", mask.length);
  output.set(mask);
  for (let at = 0; at < output.length; at += 1) {
    const value = samples[at]!;
    // NaN is not itself.
    if (value === missing || value !== value) {
      output[at] = 0;
    }
  }
  return output;
}
