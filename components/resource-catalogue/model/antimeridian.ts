import type { Ring } from "./footprint.ts";

/**
 * A ring whose edges are not longer than half the world: where two longitudes follow each other across the antimeridian, those after
 * it go on past 180. Edges of exactly 360 degrees are taken as they are: the outline of the whole world has them.
 */
export function unwrap(ring: Ring): Ring {
  let shift = 0;
  let before: number | undefined;
  let isChanged = false;
  const unwrapped = ring.map(([lon, lat]) => {
    if (before !== undefined) {
      const step = lon - before;
      if (Math.abs(step) > 180 && Math.abs(step) < 360) {
        shift += step > 0 ? -360 : 360;
      }
    }
    before = lon;
    isChanged ||= shift !== 0;
    return [lon + shift, lat] as const;
  });
  return isChanged ? unwrapped : ring;
}

/** A ring that goes around a pole does not end where it begins: it is led over the pole. */
export function closeAroundPole(ring: Ring): Ring {
  const first = ring[0] as Ring[number];
  const last = ring.at(-1) as Ring[number];
  const [west, east] = lonsOf(ring);
  const width = east - west;
  const gap = Math.abs(first[0] - last[0]);
  if (width <= 180 || gap <= 180 || ring.length < 3 || gap >= 360) {
    return ring;
  }
  const pole = ring.reduce((sum, [, lat]) => sum + lat, 0) >= 0 ? 90 : -90;
  const end = last[0] > first[0] ? first[0] + 360 : first[0] - 360;
  return [...ring, [end, first[1]], [end, pole], [first[0], pole]];
}

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

export function boundsOf(rings: readonly Ring[]): readonly [number, number, number, number] {
  let west = Infinity;
  let south = Infinity;
  let east = -Infinity;
  let north = -Infinity;
  for (const ring of rings) {
    for (const position of ring) {
      west = Math.min(west, position[0]);
      east = Math.max(east, position[0]);
      south = Math.min(south, position[1]);
      north = Math.max(north, position[1]);
    }
  }
  return [west, south, east, north];
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
