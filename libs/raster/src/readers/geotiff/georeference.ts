import type { Affine, GroundControlPoint } from "../raster.ts";

export interface Georeference {
  readonly transform?: Affine;
  readonly gcps?: readonly GroundControlPoint[];
}

/** Where the pixels are, from the tags of the full image (GeoTIFF 1.1 section 7.5). */
export function toGeoreference(
  scale: readonly number[],
  tiePoints: readonly number[],
  matrix: readonly number[],
  isPoint: boolean,
  maxGcps: number,
): Georeference {
  // Coordinates of pixel centres belong half a pixel further in.
  const shift = isPoint ? 0.5 : 0;
  if (matrix.length >= 16) {
    const [a = 0, b = 0, , c = 0, d = 0, e = 0, , f = 0] = matrix;
    const transform: Affine = [a, b, c - (a + b) * shift, d, e, f - (d + e) * shift];
    return isUsable(transform) ? { transform } : {};
  }
  const [scaleX = 0, scaleY = 0] = scale;
  if (scaleX !== 0 && scaleY !== 0 && tiePoints.length >= 6) {
    const [column = 0, row = 0, , x = 0, y = 0] = tiePoints;
    const transform: Affine = [scaleX, 0, x - (column + shift) * scaleX, 0, -scaleY, y + (row + shift) * scaleY];
    return isUsable(transform) ? { transform } : {};
  }
  if (tiePoints.length >= 18 && tiePoints.length / 6 <= maxGcps) {
    const gcps: GroundControlPoint[] = [];
    for (let at = 0; at + 5 < tiePoints.length; at += 6) {
      const [column = 0, row = 0, , x = 0, y = 0] = tiePoints.slice(at, at + 5);
      gcps.push({ column: column + shift, row: row + shift, x, y });
    }
    return { gcps };
  }
  return {};
}

function isUsable(transform: Affine): boolean {
  const [a, b, , d, e] = transform;
  return transform.every(Number.isFinite) && a * e - b * d !== 0;
}
