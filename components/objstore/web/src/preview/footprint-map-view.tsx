import { Footprints, MapView } from "@swath/ui/map";

import { type Footprint, mergeBboxes } from "./find-footprints.ts";

// oxlint-disable-next-line import/no-default-export -- React.lazy takes nothing else
export default function FootprintMapView({ footprints }: { readonly footprints: readonly Footprint[] }) {
  return (
    <MapView label="Location" height={320} box={mergeBboxes(footprints)}>
      <Footprints items={footprints} />
    </MapView>
  );
}
