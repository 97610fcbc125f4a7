import { Footprints, MapView } from "@swath/ui/map";

import { type Footprint, joinBoxes } from "./find-footprints.ts";

// oxlint-disable-next-line import/no-default-export -- React.lazy takes nothing else
export default function FootprintMapView({ footprints }: { readonly footprints: readonly Footprint[] }) {
  return (
    <MapView label="Where it lies" height={320} box={joinBoxes(footprints)}>
      <Footprints items={footprints} />
    </MapView>
  );
}
