import { Part, lazyPart } from "@swath/ui";

import type { Footprint } from "./find-footprints.ts";

const MapOfFootprints = lazyPart(() => import("./footprint-map-view.tsx"));

/** Where things lie, on a map that is fetched when the first is shown. */
export function FootprintMap({ footprints }: { readonly footprints: readonly Footprint[] }) {
  return (
    <Part what="the map">
      <MapOfFootprints footprints={footprints} />
    </Part>
  );
}
