const EARTH_RADIUS_M = 6_371_008.8;
const CORNERS = 64;
const MAX_RADIUS_M = 20_000_000;

/** A circle on the globe as a polygon of GeoJSON; `undefined` for a radius that is none. Right across the antimeridian, and near poles. */
export function toCircle(lon: number, lat: number, radius: number): unknown {
  if (!(radius > 0) || radius > MAX_RADIUS_M || Math.abs(lat) > 90 || Math.abs(lon) > 180) {
    return undefined;
  }
  const angle = radius / EARTH_RADIUS_M;
  const [sin, cos] = [Math.sin(toRadians(lat)), Math.cos(toRadians(lat))];
  const ring = Array.from({ length: CORNERS }, (_, index): [number, number] => {
    const bearing = (-2 * Math.PI * index) / CORNERS;
    const y = Math.asin(sin * Math.cos(angle) + cos * Math.sin(angle) * Math.cos(bearing));
    const x = Math.atan2(Math.sin(bearing) * Math.sin(angle) * cos, Math.cos(angle) - sin * Math.sin(y));
    const degrees = lon + (x * 180) / Math.PI;
    return [degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees, (y * 180) / Math.PI];
  });
  return { type: "Polygon", coordinates: [[...ring, ring[0]]] };
}

const toRadians = (degrees: number): number => (degrees * Math.PI) / 180;
