import { type Position, type Ring, withoutRepetitions } from "./ring.ts";

/** Work that a geometry may cost, in comparisons of the bounds of two edges: some 30 ms. */
const MAX_WORK = 10_000_000;
/** What it costs to compare two edges whose bounds meet. */
const EDGE_WORK = 8;

/** What is left of the work that all rings of a geometry may cost together. */
export interface WorkBudget {
  left: number;
}

export const createWorkBudget = (): WorkBudget => ({ left: MAX_WORK });

/**
 * Where a ring crosses, touches or covers itself, which rings of polygons must not (OGC 06-103r4 §6.1.11.1): a position on both edges, or
 * on one of them. `undefined` for a simple ring, and where the budget ends before that is known.
 *
 * @param ring on a plane: `unwrap` comes before
 */
export function findSelfIntersection(ring: Ring, budget = createWorkBudget()): Position | undefined {
  return listSelfIntersections(ring, budget).next().value;
}

/** All of them, one by one; ends early where the budget does. */
export function* listSelfIntersections(
  ring: Ring,
  budget: WorkBudget = createWorkBudget(),
): Generator<Position, undefined> {
  const points = withoutRepetitions(ring);
  const { order, west, east, south, north } = sortEdges(points);
  for (let at = 0; at < order.length; at += 1) {
    const [end, bottom, top] = [east[at]!, south[at]!, north[at]!];
    for (let next = at + 1; next < order.length && west[next]! <= end; next += 1) {
      budget.left -= 1;
      if (budget.left <= 0) {
        return;
      }
      if (south[next]! > top || north[next]! < bottom) {
        continue;
      }
      budget.left -= EDGE_WORK;
      const found = findCommon(points, order[at]!, order[next]!);
      if (found !== undefined) {
        yield found;
      }
    }
  }
}

/** Numbers of the edges from west to east, and their bounds in the same order. */
function sortEdges(points: readonly Position[]) {
  const count = points.length;
  const [west, east] = [new Float64Array(count), new Float64Array(count)];
  const [south, north] = [new Float64Array(count), new Float64Array(count)];
  for (let index = 0; index < count; index += 1) {
    const [a, b] = edgeOf(points, index);
    west[index] = Math.min(a[0], b[0]);
    east[index] = Math.max(a[0], b[0]);
    south[index] = Math.min(a[1], b[1]);
    north[index] = Math.max(a[1], b[1]);
  }
  const order = Uint32Array.from({ length: count }, (_, index) => index).sort((a, b) => west[a]! - west[b]!);
  const arrange = (values: Float64Array): Float64Array => Float64Array.from(order, (index) => values[index]!);
  return { order, west: arrange(west), east: arrange(east), south: arrange(south), north: arrange(north) };
}

const edgeOf = (points: readonly Position[], index: number): readonly [Position, Position] => [
  points[index] as Position,
  points[index + 1 === points.length ? 0 : index + 1] as Position,
];

/** A position that two edges whose bounds meet have in common, besides the corner of neighbours. */
function findCommon(points: readonly Position[], one: number, other: number): Position | undefined {
  const [a, b] = edgeOf(points, one);
  const [c, d] = edgeOf(points, other);
  const count = points.length;
  if ((one + 1) % count === other) {
    return turnsBack(a, b, d) ? b : undefined;
  }
  if ((other + 1) % count === one) {
    return turnsBack(c, d, b) ? d : undefined;
  }
  const [c1, d1] = [sideOf(a, b, c), sideOf(a, b, d)];
  const [a1, b1] = [sideOf(c, d, a), sideOf(c, d, b)];
  if (c1 * d1 < 0 && a1 * b1 < 0) {
    const share = c1 / (c1 - d1);
    return [c[0] + share * (d[0] - c[0]), c[1] + share * (d[1] - c[1])];
  }
  return (
    (c1 === 0 && isWithin(a, b, c) && c) ||
    (d1 === 0 && isWithin(a, b, d) && d) ||
    (a1 === 0 && isWithin(c, d, a) && a) ||
    (b1 === 0 && isWithin(c, d, b) && b) ||
    undefined
  );
}

/** Positive for a position on the left of a line, in square degrees. */
const sideOf = (from: Position, to: Position, position: Position): number =>
  (to[0] - from[0]) * (position[1] - from[1]) - (to[1] - from[1]) * (position[0] - from[0]);

/** Whether a position of a line is on the part between its ends. */
const isWithin = (a: Position, b: Position, position: Position): boolean =>
  position[0] >= Math.min(a[0], b[0]) &&
  position[0] <= Math.max(a[0], b[0]) &&
  position[1] >= Math.min(a[1], b[1]) &&
  position[1] <= Math.max(a[1], b[1]);

/** Whether the edge after a corner lies on the one before it. */
const turnsBack = (before: Position, corner: Position, after: Position): boolean =>
  sideOf(before, corner, after) === 0 &&
  (corner[0] - before[0]) * (after[0] - corner[0]) + (corner[1] - before[1]) * (after[1] - corner[1]) < 0;
