import { Loading } from "@swath/ui";
import { type ComponentProps, Suspense, lazy } from "react";

const AreaMap = lazy(async () => ({ default: (await import("./area-map.tsx")).AreaMap }));

/** The map to draw an area on, whose code is loaded when a form has one. */
export function AreaMapPart(props: ComponentProps<typeof AreaMap>) {
  return (
    <Suspense fallback={<Loading what="Loading the map" />}>
      <AreaMap {...props} />
    </Suspense>
  );
}
