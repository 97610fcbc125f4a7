import type { Plane } from "../render/plane.ts";
import type { Grid } from "../warp/grid.ts";

/** Some rows of a grid. */
export function cutRows({ crs, bbox, width, height }: Grid, firstRow: number, rows: number): Grid {
  const [minX, minY, maxX, maxY] = bbox;
  const resolution = (maxY - minY) / height;
  const top = maxY - firstRow * resolution;
  return { crs, bbox: [minX, top - rows * resolution, maxX, top], width, height: rows };
}

/** A grid with more pixels on each side. */
export function widenGrid({ crs, bbox: [minX, minY, maxX, maxY], width, height }: Grid, margin: number): Grid {
  const [x, y] = [((maxX - minX) / width) * margin, ((maxY - minY) / height) * margin];
  return {
    crs,
    bbox: [minX - x, minY - y, maxX + x, maxY + y],
    width: width + 2 * margin,
    height: height + 2 * margin,
  };
}

/** Takes them off again. */
export function cropPlane({ samples, mask, type }: Plane, from: Grid, to: Grid, margin: number): Plane {
  const output = { samples: samples.slice(0, to.width * to.height), mask: new Uint8Array(to.width * to.height), type };
  for (let row = 0; row < to.height; row += 1) {
    const start = (row + margin) * from.width + margin;
    output.samples.set(samples.subarray(start, start + to.width), row * to.width);
    output.mask.set(mask.subarray(start, start + to.width), row * to.width);
  }
  return output;
}
