import { type Ring, boundsOf } from "@swath/stac/geometry";

/** Parts of one footprint, moved by 360 degrees where that makes them lie together; the first begins in [-180, 180). */
export function compactParts(parts: readonly Ring[]): readonly Ring[] {
  const normal = parts.map((part) => moveInto(part));
  if (normal.length === 1) {
    return normal;
  }
  const spans = normal.map((ring) => lonsOf(ring)).sort(([a], [b]) => a - b);
  // The widest gap on the circle between parts is what the footprint leaves out; it begins after it.
  let [covered, widest, start] = [spans[0]?.[1] ?? 0, -Infinity, spans[0]?.[0] ?? 0];
  for (const [west, east] of spans.slice(1)) {
    if (west - covered > widest) {
      [widest, start] = [west - covered, west];
    }
    covered = Math.max(covered, east);
  }
  const around = (spans[0]?.[0] ?? 0) + 360 - covered;
  if (around >= widest || widest <= 0) {
    return normal;
  }
  return normal.map((ring) => (lonsOf(ring)[0] < start ? move(ring, 360) : ring));
}

function moveInto(ring: Ring): Ring {
  const [west, east] = lonsOf(ring);
  const by = west >= 180 && east > 180 ? -360 : west < -180 ? 360 : 0;
  return by === 0 ? ring : move(ring, by);
}

function move(ring: Ring, by: number): Ring {
  return ring.map(([lon, lat]) => [lon + by, lat] as const);
}

function lonsOf(ring: Ring): readonly [west: number, east: number] {
  const [west, , east] = boundsOf([ring]);
  return [west, east];
}
