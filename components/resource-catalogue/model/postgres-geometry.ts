import type { Footprint, Ring } from "./footprint.ts";

/** PostgreSQL's text of a box. */
export const toBox = ([west, south, east, north]: Footprint["box"]): string => `(${east},${north}),(${west},${south})`;

/** PostgreSQL's text of a polygon. */
export const toPolygon = (ring: Ring, shift = 0): string =>
  `(${ring.map(([lon, lat]) => `(${lon + shift},${lat})`).join(",")})`;

/** PostgreSQL's text of an array of polygons. */
export const toPolygons = (rings: readonly Ring[]): string =>
  `{${rings.map((ring) => `"${toPolygon(ring)}"`).join(",")}}`;
