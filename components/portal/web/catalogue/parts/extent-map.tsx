import { Footprints, MapView } from "@swath/ui/map";
import { useMemo } from "react";

import { type Box, bboxOf, toPolygon } from "../../processing/model/areas.ts";

interface ExtentMapProps {
  readonly label: string;
  /** STAC boxes: four numbers, or six with heights. */
  readonly boxes: readonly (readonly number[])[];
}

/** Where a collection lies. */
export function ExtentMap({ label, boxes }: ExtentMapProps) {
  const items = useMemo(
    () => boxes.flatMap(toFlatBox).map((bbox, index) => ({ id: String(index), geometry: toPolygon(bbox) })),
    [boxes],
  );
  const sight = useMemo(
    () => bboxOf({ type: "GeometryCollection", geometries: items.map(({ geometry }) => geometry) }),
    [items],
  );
  return (
    <MapView label={label} height={300} box={sight}>
      <Footprints items={items} />
    </MapView>
  );
}

/** A box with heights is west, south, lowest, east, north, highest. */
function toFlatBox(values: readonly number[]): readonly Box[] {
  const [west, south, east, north] = values.length === 6 ? [0, 1, 3, 4].map((index) => values[index]) : values;
  return west === undefined || south === undefined || east === undefined || north === undefined
    ? []
    : [[west, south, east, north]];
}
