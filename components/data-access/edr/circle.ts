import { type Clip, type Crs, createReproject, parseCrs } from "@swath/raster";
import { Problem } from "@swath/service";

const METRES: ReadonlyMap<string, number> = new Map([
  ["m", 1],
  ["metre", 1],
  ["metres", 1],
  ["meter", 1],
  ["meters", 1],
  ["km", 1000],
  ["kilometre", 1000],
  ["kilometres", 1000],
  ["kilometers", 1000],
  ["mi", 1609.344],
  ["mile", 1609.344],
  ["miles", 1609.344],
  ["nmi", 1852],
]);
const MAX_METRES = 1_000_000;
const POINTS = 90;

/** Distances of EDR, with the parameters of their units. */
const UNITS = { within: "within-units", "corridor-width": "width-units", "corridor-height": "height-units" } as const;

/** A distance of EDR and its unit in metres. @throws {Problem} 400 */
export function parseDistance(
  distance: string | undefined,
  units: string | undefined,
  name: keyof typeof UNITS = "within",
): number {
  const metres = Number(distance) * (METRES.get((units ?? "").toLowerCase()) ?? Number.NaN);
  if (distance === undefined || units === undefined || !(metres > 0 && metres <= MAX_METRES)) {
    throw new Problem(
      400,
      `${name} must be a number above 0, up to ${MAX_METRES / 1000} km, and ${UNITS[name]} one of ${[...METRES.keys()].join(", ")}.`,
    );
  }
  return metres;
}

/** All that is within a distance of a point on the ellipsoid: a circle where distances from it are true. @throws {Problem} 400 */
export function toCircle([x, y]: readonly [x: number, y: number], crs: Crs, metres: number): Clip {
  const [xs, ys] = [Float64Array.of(x), Float64Array.of(y)];
  createReproject(crs, parseCrs("OGC:CRS84"))(xs, ys);
  const [longitude = Number.NaN, latitude = Number.NaN] = [xs[0], ys[0]];
  if (!Number.isFinite(longitude) || !(Math.abs(latitude) <= 90)) {
    throw new Problem(400, "The point of coords is not on Earth.");
  }
  const ring = Array.from({ length: POINTS }, (_, at): readonly [number, number] => {
    const angle = (2 * Math.PI * at) / POINTS;
    return [metres * Math.cos(angle), metres * Math.sin(angle)];
  });
  return { crs: parseCrs(`+proj=aeqd +lat_0=${latitude} +lon_0=${longitude} +datum=WGS84`), rings: [ring] };
}
