import { boundsOf } from "@swath/stac/geometry";

import { type Footprint, GeometryError, type Ring, toFootprint } from "../model/footprint.ts";
import { toBox, toPolygon } from "../model/postgres-geometry.ts";
import { FilterError } from "./expression.ts";

/** What a search asks of places: boxes to find candidates by, and shapes for the exact test; both of all longitudes that mean the same. */
export interface SearchedPlace {
  readonly boxes: readonly string[];
  readonly shapes: readonly string[];
  /** Degrees of longitude times degrees of latitude. */
  readonly area: number;
  /** The shapes are the boxes. */
  readonly isBox?: boolean;
  readonly heights?: readonly [low: number, high: number];
}

/** Positions of a geometry that is searched by: each is compared with each position of a record. */
const MAX_SEARCHED_POSITIONS = 5000;
/** Boxes of the index reach from -180 to 540. */
const SHIFTS = [0, 360, -360];

/**
 * A box of 4 or 6 numbers, west > east where it crosses the antimeridian.
 * @throws {FilterError} saying what is wrong with it
 */
export function parseBbox(bbox: readonly number[], what = "bbox"): SearchedPlace {
  if (bbox.length !== 4 && bbox.length !== 6) {
    throw new FilterError(`${what} must have 4 or 6 numbers, not ${bbox.length}`);
  }
  if (!bbox.every((entry) => Number.isFinite(entry))) {
    throw new FilterError(`${what} must have numbers only`);
  }
  const [west, south, low, east, north, high] = (
    bbox.length === 6 ? bbox : [bbox[0], bbox[1], 0, bbox[2], bbox[3], 0]
  ) as readonly [number, number, number, number, number, number];
  if (south > north) {
    throw new FilterError(`${what} must not have its southern edge (${south}) north of its northern one (${north})`);
  }
  if (Math.abs(south) > 90 || Math.abs(north) > 90 || Math.abs(west) > 180 || Math.abs(east) > 180) {
    throw new FilterError(`${what} must have longitudes from -180 to 180 and latitudes from -90 to 90`);
  }
  if (low > high) {
    throw new FilterError(`${what} must not have its lowest height (${low}) above its highest one (${high})`);
  }
  const end = west > east ? east + 360 : east;
  return {
    ...toPlace([
      [
        [west, south],
        [end, south],
        [end, north],
        [west, north],
      ],
    ]),
    isBox: true,
    ...(bbox.length === 6 && { heights: [low, high] }),
  };
}

/** A GeoJSON geometry. @throws {FilterError} saying what is wrong with it */
export function parseGeometry(geometry: unknown, what = "geometry"): SearchedPlace {
  let footprint: Footprint;
  try {
    footprint = toFootprint(geometry, MAX_SEARCHED_POSITIONS);
  } catch (error) {
    if (error instanceof GeometryError) {
      throw new FilterError(`${what}${error.path.replaceAll("/", ".")} ${error.message}`);
    }
    throw error;
  }
  const { box: bbox, shapes } = footprint;
  return toPlace(shapes ?? [toRing(bbox)]);
}

function toPlace(rings: readonly Ring[]): SearchedPlace {
  const [west, south, east, north] = boundsOf(rings);
  const shifts = SHIFTS.filter((shift) => west + shift <= 540 && east + shift >= -180);
  return {
    boxes: shifts.map((shift) => toBox([west + shift, south, east + shift, north])),
    shapes: shifts.flatMap((shift) => rings.map((ring) => toPolygon(ring, shift))),
    area: (east - west) * (north - south),
  };
}

function toRing([west, south, east, north]: Footprint["box"]): Ring {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ];
}
