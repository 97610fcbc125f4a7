/** Degrees of longitude and latitude (RFC 7946 §4). */
export type Position = readonly [longitude: number, latitude: number];
/** Positions of a ring without the last, which repeats the first. */
export type Ring = readonly Position[];

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

/**
 * A ring that goes around a pole does not end where it begins: from its position nearest to a pole it is led over that pole. Nothing of the ring is
 * between the two, so that it does not cross itself there.
 *
 * @param ring as `unwrap` gives it
 */
export function closeAroundPole(ring: Ring): Ring {
  if (ring.length < 3) {
    return ring;
  }
  const [first, last] = [ring[0] as Position, ring.at(-1) as Position];
  const [west, south, east, north] = boundsOf([ring]);
  const gap = Math.abs(first[0] - last[0]);
  if (east - west <= 180 || gap <= 180 || gap === 360) {
    return ring;
  }
  const pole = north >= -south ? 90 : -90;
  const turn = last[0] > first[0] ? 360 : -360;
  const nearest = ring.findIndex(([, lat]) => lat === (pole > 0 ? north : south));
  const [lon, lat] = ring[nearest] as Position;
  const before = ring.slice(0, nearest).map(([x, y]): Position => [x + turn, y]);
  return [...ring.slice(nearest), ...before, [lon + turn, lat], [lon + turn, pole], [lon, pole]];
}

/** West, south, east and north of rings. */
export function boundsOf(rings: readonly Ring[]): readonly [number, number, number, number] {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
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

/** Without positions that repeat the one before, and without the last where it repeats the first. */
export function withoutRepetitions(ring: readonly Position[]): Position[] {
  const kept = ring.filter(([x, y], index) => {
    const before = ring[index - 1];
    return before === undefined || before[0] !== x || before[1] !== y;
  });
  const [first, last] = [kept[0], kept.at(-1)];
  return kept.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1] ? kept.slice(0, -1) : kept;
}

/** Square degrees; negative for a ring that goes clockwise. */
export function areaOf(ring: Ring): number {
  let sum = 0;
  for (const [index, [x, y]] of ring.entries()) {
    const [nextX, nextY] = ring[(index + 1) % ring.length] as Position;
    sum += x * nextY - nextX * y;
  }
  return sum / 2;
}
