/** West, south, east, north in degrees. */
export type Box = readonly [number, number, number, number];

/** A GeoJSON polygon in degrees. */
export interface Polygon {
  readonly type: "Polygon";
  readonly coordinates: readonly (readonly (readonly number[])[])[];
}

/** A GeoJSON line in degrees. */
export interface Line {
  readonly type: "LineString";
  readonly coordinates: readonly (readonly number[])[];
}

/** A box with room around it, so that what is in it does not touch the edge of the map. */
export function expandBbox([west, south, east, north]: Box, share = 0.15): Box {
  const [x, y] = [Math.max(0.002, (east - west) * share), Math.max(0.002, (north - south) * share)];
  return [west - x, Math.max(-85, south - y), east + x, Math.min(85, north + y)];
}
