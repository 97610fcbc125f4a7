import { Footprints, MapView } from "@swath/ui/map";
import { type StacItem, titleOf } from "@swath/ui/stac";
import { useMemo } from "react";

import { boxOfFeatures } from "../model/stac.ts";

/** Where an item lies. */
export function ItemMap({ item }: { readonly item: StacItem }) {
  const items = useMemo(() => [{ id: item.id, geometry: item.geometry }], [item]);
  const bbox = useMemo(() => boxOfFeatures([item]), [item]);
  return (
    <MapView label={`Footprint of ${titleOf(item)}`} height={360} box={bbox}>
      <Footprints items={items} outline />
    </MapView>
  );
}
