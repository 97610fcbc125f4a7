import type { StacExtent, StacItem } from "./types.ts";

/**
 * The box and interval that hold all items. Items without a box or date do not count; when none is left, the box is the
 * world's and the interval open. Boxes across the antimeridian (west > east) make the result span all longitudes.
 */
export function extentOf(items: readonly StacItem[]): StacExtent {
  const boxes = items
    .flatMap(({ bbox }) => (bbox === undefined ? [] : [flatten(bbox)]))
    .filter((bbox) => bbox.length === 4);
  const times = items.flatMap(({ properties }) =>
    ["datetime", "start_datetime", "end_datetime"].map((name) => properties[name]),
  );
  const instants = times
    .filter((time): time is string => typeof time === "string" && !Number.isNaN(Date.parse(time)))
    .toSorted((left, right) => Date.parse(left) - Date.parse(right));
  return {
    spatial: { bbox: [boxes.length === 0 ? [-180, -90, 180, 90] : surround(boxes)] },
    temporal: { interval: [[instants[0] ?? null, instants.at(-1) ?? null]] },
  };
}

function surround(boxes: readonly (readonly number[])[]): number[] {
  const crosses = boxes.some(([west = 0, , east = 0]) => west > east);
  const side = (index: number, pick: (...values: number[]) => number) => pick(...boxes.map((bbox) => bbox[index] ?? 0));
  return [crosses ? -180 : side(0, Math.min), side(1, Math.min), crosses ? 180 : side(2, Math.max), side(3, Math.max)];
}

/** `[west, south, east, north]`, without heights. */
function flatten(bbox: readonly number[]): readonly number[] {
  return bbox.length === 6 ? [0, 1, 3, 4].map((index) => bbox[index] ?? 0) : bbox;
}
