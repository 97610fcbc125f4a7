import { type Ring, areaOf } from "@swath/stac/geometry";
import { type Polygons, foldRing } from "@swath/stac/repair-geometry";
import { intersection } from "polyclip-ts";

interface Geometry {
  readonly type: string;
  readonly coordinates: unknown;
}

/** Square degrees in both of two geometries, per square degree in one of them; parts are simple polygons without holes. */
export function overlapOf(one: Geometry, other: Geometry): number {
  const [a, b] = [partsOf(one), partsOf(other)];
  const common = sumOf(intersection(a, b));
  return common / (sumOf(a) + sumOf(b) - common);
}

/** Polygons cut at the antimeridian. */
function partsOf({ type, coordinates }: Geometry): Polygons {
  const rings = (type === "Polygon" ? [coordinates] : coordinates) as Ring[][];
  return rings.flatMap(([outer = []]) => foldRing(outer.slice(0, -1)));
}

export const sumOf = (polygons: Polygons): number =>
  polygons
    .flatMap(([outer = [], ...holes]) => [Math.abs(areaOf(outer)), ...holes.map((hole) => -Math.abs(areaOf(hole)))])
    .reduce((sum, area) => sum + area, 0);
