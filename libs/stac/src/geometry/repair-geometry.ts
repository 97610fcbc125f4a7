import { difference, union } from "polyclip-ts";

import { findGeometryIssues } from "./check-geometry.ts";
import { type Polygons, foldRing } from "./fold.ts";
import { type Position, closeAroundPole, unwrap } from "./ring.ts";
import { listSelfIntersections } from "./self-intersection.ts";

export { type Polygons, foldRing } from "./fold.ts";

/** What is repaired at most: the time grows with both. */
const MAX_POSITIONS = 5000;
const MAX_CROSSINGS = 200;

/**
 * A Polygon or MultiPolygon whose rings cross themselves as polygons that do not, cut at the antimeridian; what a ring encloses stays enclosed. Any
 * other geometry, and one that is too large or too tangled, comes back as it is.
 */
export function repairGeometry(geometry: unknown): unknown {
  const { type, coordinates } = (geometry ?? {}) as { readonly type?: unknown; readonly coordinates?: unknown };
  if ((type !== "Polygon" && type !== "MultiPolygon") || findGeometryIssues(geometry).length === 0) {
    return geometry;
  }
  const polygons = (type === "Polygon" ? [coordinates] : coordinates) as readonly (readonly Position[])[][];
  if (!isRepairable(polygons)) {
    return geometry;
  }
  const [first = [], ...others] = polygons.map(([outer = [], ...holes]): Polygons => {
    const [outside, ...inside] = [outer, ...holes].map((ring) => foldRing(ring.slice(0, -1)));
    return inside.length === 0 ? (outside ?? []) : difference(outside ?? [], ...inside);
  });
  const repaired = others.length === 0 ? first : union(first, ...others);
  const [only] = repaired;
  if (only === undefined) {
    return geometry;
  }
  return repaired.length === 1
    ? { type: "Polygon", coordinates: only }
    : { type: "MultiPolygon", coordinates: repaired };
}

function isRepairable(polygons: readonly (readonly (readonly Position[])[])[]): boolean {
  const rings = polygons.flat();
  const isForm = rings.every(
    (ring) => ring.length >= 4 && ring.every((each) => each.slice(0, 2).every(Number.isFinite)),
  );
  if (!isForm || rings.reduce((sum, ring) => sum + ring.length, 0) > MAX_POSITIONS) {
    return false;
  }
  let crossings = 0;
  for (const ring of rings) {
    for (const _ of listSelfIntersections(closeAroundPole(unwrap(ring.slice(0, -1))))) {
      crossings += 1;
      if (crossings > MAX_CROSSINGS) {
        return false;
      }
    }
  }
  return true;
}
