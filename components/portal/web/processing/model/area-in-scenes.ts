import { type Polygon, bboxOf } from "./areas.ts";

interface PlacedScene {
  readonly title: string;
  readonly geometry?: unknown;
}

/** A sentence when an area touches some chosen scenes not at all; by their boxes, so that what is said is certain. */
export function findOutside(area: Polygon | undefined, scenes: readonly PlacedScene[]): string | undefined {
  const bbox = bboxOf(area);
  const placed = scenes.flatMap(({ title, geometry }) => {
    const around = bboxOf(geometry);
    return around === undefined ? [] : [{ title, box: around }];
  });
  if (bbox === undefined || placed.length === 0) {
    return undefined;
  }
  const outside = placed.filter(
    ({ box: [west, south, east, north] }) => bbox[0] >= east || bbox[2] <= west || bbox[1] >= north || bbox[3] <= south,
  );
  if (outside.length === 0) {
    return undefined;
  }
  const names = outside
    .slice(0, 3)
    .map(({ title }) => title)
    .join(", ");
  return outside.length === placed.length
    ? `The area lies outside of ${placed.length === 1 ? "the scene" : "all scenes"}; the job would have nothing to work on.`
    : `The area does not touch ${names}${outside.length > 3 ? ` and ${outside.length - 3} more` : ""}.`;
}
