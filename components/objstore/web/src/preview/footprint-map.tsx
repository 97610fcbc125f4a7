import { Loader } from "@mantine/core";
import { Suspense, lazy } from "react";

import type { Footprint } from "./find-footprints.ts";

const Map = lazy(() => import("./footprint-map-view.tsx"));

/** Where things lie, on a map that is fetched when the first is shown. */
export function FootprintMap({ footprints }: { readonly footprints: readonly Footprint[] }) {
  return (
    <Suspense fallback={<Loader />}>
      <Map footprints={footprints} />
    </Suspense>
  );
}
