import type { Bbox } from "@swath/raster";

const TURN = 360;
const EDGE = 180;

/**
 * A box in degrees as GeoJSON: over the antimeridian it is cut there, and its west is greater than its east (RFC 7946, 3.1.9 and 5.2). Both a
 * box whose east is beyond 180° and one whose west is greater are taken.
 */
export function toBoxGeometry([west, south, east, north]: Bbox): { readonly bbox: Bbox; readonly geometry: object } {
  const end = east > EDGE ? east - TURN : east;
  const isWhole = Math.abs(east - west) >= TURN;
  if (isWhole || (east <= EDGE && west <= east)) {
    const bbox: Bbox = isWhole ? [-EDGE, south, EDGE, north] : [west, south, east, north];
    return { bbox, geometry: { type: "Polygon", coordinates: [toRing(bbox)] } };
  }
  const parts: readonly Bbox[] = [
    [west, south, EDGE, north],
    [-EDGE, south, end, north],
  ];
  return {
    bbox: [west, south, end, north],
    geometry: { type: "MultiPolygon", coordinates: parts.map((part) => [toRing(part)]) },
  };
}

const toRing = ([west, south, east, north]: Bbox) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
];
