import { difference, union } from "polyclip-ts";

import { findGeometryIssues } from "./check-geometry.ts";
import { type Polygons, foldRing } from "./fold.ts";
import { type Position, closeAroundPole, unwrap } from "./ring.ts";
import { createWorkBudget, listSelfIntersections } from "./self-intersection.ts";

export { type Polygons, foldRing } from "./fold.ts";

/** What is repaired at most: the time grows with both. */
const MAX_POSITIONS = 5000;
const MAX_CROSSINGS = 200;

/**
 * A Polygon or MultiPolygon whose rings cross themselves as polygons that do not, cut at the antimeridian; what a ring encloses stays enclosed. Any
 * other geometry, and one that is too large, too tangled or without area, comes back as it is.
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
  const repaired = join(polygons);
  return repaired === undefined || findGeometryIssues(repaired).length > 0 ? geometry : repaired;
}

/** `undefined` where nothing is enclosed, and for the few that are beyond the library: the geometry stays, and is refused where it is written. */
function join(polygons: readonly (readonly (readonly Position[])[])[]): object | undefined {
  let repaired: Polygons;
  try {
    const [first = [], ...others] = polygons.map(([outer = [], ...holes]): Polygons => {
      const [outside = [], ...inside] = [outer, ...holes].map((ring) => foldRing(ring.slice(0, -1)));
      return inside.length === 0 ? outside : difference(outside, ...inside);
    });
    repaired = others.length === 0 ? first : union(first, ...others);
  } catch {
    return undefined;
  }
  const [only] = repaired;
  if (only === undefined) {
    return undefined;
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
  const budget = createWorkBudget();
  for (const ring of rings) {
    for (const _ of listSelfIntersections(closeAroundPole(unwrap(ring.slice(0, -1))), budget)) {
      crossings += 1;
      if (crossings > MAX_CROSSINGS) {
        return false;
      }
    }
  }
  return true;
}
