import type { Footprint, Ring } from "./footprint.ts";

/** PostgreSQL's text of a box. */
export const toBox = ([west, south, east, north]: Footprint["box"]): string => `(${east},${north}),(${west},${south})`;

/** PostgreSQL's text of a polygon. */
export const toPolygon = (ring: Ring, shift = 0): string =>
  `(${ring.map(([lon, lat]) => `(${lon + shift},${lat})`).join(",")})`;

/** A box among the values of a statement: its text is made only where it is sent as text. */
export class BoxValue {
  readonly box: Footprint["box"];

  constructor(box: Footprint["box"]) {
    this.box = box;
  }

  /** As `pg` asks. */
  toPostgres(): string {
    return toBox(this.box);
  }
}

/** The same of an array of polygons. */
export class PolygonsValue {
  readonly rings: readonly Ring[];

  constructor(rings: readonly Ring[]) {
    this.rings = rings;
  }

  toPostgres(): string {
    return `{${this.rings.map((ring) => `"${toPolygon(ring)}"`).join(",")}}`;
  }
}
