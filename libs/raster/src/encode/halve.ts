import type { Samples } from "../readers/raster.ts";

/** How the pixels of an overview are made of those of the level above it. */
export type Overviews = "nearest" | "average";

export interface HalveOptions {
  readonly width: number;
  readonly rows: number;
  /** `nearest` when left out. */
  readonly overviews?: Overviews;
  /** Value of missing pixels. */
  readonly nodata?: number;
}

/** Planes of half the width and height, odd sizes rounded up. The mask is 0 where pixels are missing, and is halved as well. */
export function halvePlanes(
  planes: readonly Samples[],
  mask: Uint8Array | undefined,
  options: HalveOptions,
): readonly Samples[] {
  return options.overviews === "average"
    ? [
        ...planes.map((plane) => average(plane, mask, options)),
        ...(mask === undefined ? [] : [pickGreatest(mask, options)]),
      ]
    : [...planes, ...(mask === undefined ? [] : [mask])].map((plane) => pickFirst(plane, options));
}

/** The first of each four pixels: right for classes and nodata as well, and a value that the full image has. */
function pickFirst(plane: Samples, { width, rows }: HalveOptions): Samples {
  const [halfWidth, halfRows] = [Math.ceil(width / 2), Math.ceil(rows / 2)];
  const output = plane.slice(0, halfWidth * halfRows);
  for (let row = 0; row < halfRows; row += 1) {
    for (let column = 0; column < halfWidth; column += 1) {
      output[row * halfWidth + column] = plane[row * 2 * width + column * 2]!;
    }
  }
  return output;
}

/** The mean of those of each four pixels that are not missing; the first one where all are. */
function average(plane: Samples, mask: Uint8Array | undefined, options: HalveOptions): Samples {
  const { width, rows, nodata } = options;
  const isInteger = !(plane instanceof Float32Array) && !(plane instanceof Float64Array);
  const missing = plane instanceof Float32Array && nodata !== undefined ? Math.fround(nodata) : nodata;
  const output = pickFirst(plane, options);
  const halfWidth = Math.ceil(width / 2);
  for (let at = 0; at < output.length; at += 1) {
    const [left, top] = [(at % halfWidth) * 2, Math.floor(at / halfWidth) * 2];
    const [right, bottom] = [Math.min(left + 2, width), Math.min(top + 2, rows)];
    let [sum, count] = [0, 0];
    for (let y = top; y < bottom; y += 1) {
      for (let x = left; x < right; x += 1) {
        const value = plane[y * width + x]!;
        // NaN is not itself.
        if (value === value && value !== missing && (mask === undefined || mask[y * width + x] !== 0)) {
          sum += value;
          count += 1;
        }
      }
    }
    if (count > 0) {
      output[at] = isInteger ? Math.round(sum / count) : sum / count;
    }
  }
  return output;
}

/** Where any of each four pixels is there, their average is. */
function pickGreatest(mask: Uint8Array, { width, rows }: HalveOptions): Uint8Array {
  const halfWidth = Math.ceil(width / 2);
  const output = new Uint8Array(halfWidth * Math.ceil(rows / 2));
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const at = (row >> 1) * halfWidth + (column >> 1);
      output[at] = Math.max(output[at]!, mask[row * width + column]!);
    }
  }
  return output;
}
